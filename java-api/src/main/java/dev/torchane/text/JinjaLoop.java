package dev.torchane.text;

import java.util.List;
import java.util.function.BiFunction;

/** The {@code loop} variable of a for loop. */
final class JinjaLoop implements JinjaFunction {

    private final List<Object> items;
    private final int depth;
    private final BiFunction<Object, Integer, String> again;
    private int index;
    private List<Object> lastChanged = List.of();
    private boolean changedBefore;

    /**
     * @param again renders the loop's body over other items, one level deeper; for recursive loops
     */
    JinjaLoop(List<Object> items, int depth, BiFunction<Object, Integer, String> again) {
        this.items = items;
        this.depth = depth;
        this.again = again;
    }

    void moveTo(int position) {
        index = position;
    }

    @Override
    public Object call(Arguments arguments) {
        return again.apply(arguments.get(0, "items"), depth + 1);
    }

    Object attribute(String name) {
        long size = items.size();
        return switch (name) {
            case "index" -> index + 1L;
            case "index0" -> (long) index;
            case "revindex" -> size - index;
            case "revindex0" -> size - index - 1;
            case "first" -> index == 0;
            case "last" -> index == size - 1;
            case "length" -> size;
            case "depth" -> depth + 1L;
            case "depth0" -> (long) depth;
            case "previtem" -> index > 0 ? items.get(index - 1) : new JinjaValues.Undefined("loop.previtem");
            case "nextitem" -> index + 1 < size ? items.get(index + 1) : new JinjaValues.Undefined("loop.nextitem");
            case "cycle" -> (JinjaFunction) a -> a.positional().get(Math.floorMod(index, Math.max(1, a.count())));
            case "changed" ->
                (JinjaFunction) a -> {
                    boolean changed = !changedBefore || !JinjaValues.equal(lastChanged, a.positional());
                    changedBefore = true;
                    lastChanged = a.positional();
                    return changed;
                };
            default -> new JinjaValues.Undefined("loop." + name);
        };
    }
}
