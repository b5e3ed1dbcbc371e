package dev.torchane.engine.jvm;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Gives buffers places in one array so that buffers alive at the same time do not overlap. */
final class Arena {

    private Arena() {}

    private record Hole(int from, int to) {}

    /**
     * Sets each buffer's offset, a multiple of {@link Lanes#COUNT}.
     *
     * @param buffers in the order of their first use
     * @return size of the array
     */
    static int place(List<Operand.Buffer> buffers) {
        List<Operand.Buffer> order = new ArrayList<>(buffers);
        order.sort(Comparator.comparingInt((Operand.Buffer buffer) -> buffer.firstStep));
        List<Operand.Buffer> alive = new ArrayList<>();
        int end = 0;
        for (Operand.Buffer buffer : order) {
            alive.removeIf(other -> other.lastStep < buffer.firstStep);
            alive.sort(Comparator.comparingInt(other -> other.offset));
            int size = Lanes.roundUp(buffer.size);
            Hole best = null;
            int at = 0;
            for (Operand.Buffer other : alive) {
                Hole hole = new Hole(at, other.offset);
                if (hole.to - hole.from >= size && (best == null || hole.to - hole.from < best.to - best.from)) {
                    best = hole;
                }
                at = Math.max(at, other.offset + Lanes.roundUp(other.size));
            }
            buffer.offset = best == null ? at : best.from;
            end = Math.max(end, Math.addExact(buffer.offset, size));
            alive.add(buffer);
        }
        return end;
    }
}
