package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A write into a cache at a place that is known at each call only, without such a place in the program.
 *
 * <pre>
 * Given   slice_update(x, update, begin = concat(…, step, 0))      Result  hot[m, q] = (m == step + q)
 *                                                                          old · (1 − Σ hot) + hot · update, at constant places
 * </pre>
 */
final class OneHotWrite {

    private OneHotWrite() {}

    /** The written cache; empty where one place, on the last axis but one, is not all that is computed. */
    static Optional<Ref> of(OperationCall call) {
        Ref x = call.in("x");
        Ref update = call.in("update");
        Optional<OperationCall> concat =
                call.definition("begin").filter(each -> each.kind().equals("concat"));
        if (concat.isEmpty() || update.rank() != x.rank()) {
            return Optional.empty();
        }
        List<Optional<List<Double>>> parts = concat.get().manyNumbers("values");
        int moving = x.rank() - 2;
        if (parts.size() != x.rank()) {
            return Optional.empty();
        }
        List<Integer> begin = new ArrayList<>();
        List<Integer> end = new ArrayList<>();
        for (int axis = 0; axis < parts.size(); axis++) {
            Optional<List<Double>> known = parts.get(axis);
            if (known.isPresent() == (axis == moving)) {
                return Optional.empty();
            }
            begin.add(known.map(values -> values.getFirst().intValue()).orElse(0));
            end.add(
                    axis == moving
                            ? x.type().axis(axis)
                            : begin.get(axis) + update.type().axis(axis));
        }
        return Optional.of(
                blend(call.ir(), x, update, concat.get().all("values").get(moving), begin, end));
    }

    private static Ref blend(Ir ir, Ref x, Ref update, Ref step, List<Integer> begin, List<Integer> end) {
        Ref columns = ir.iota(x.type().axis(-2), 0, 2);
        Ref places = ir.add(ir.cast(step, DType.INT32), ir.iota(update.type().axis(-2), 1, 2));
        Ref hot = ir.cast(ir.compare("equal", columns, places), x.dtype());
        Ref kept = ir.sub(ir.scalar(x.dtype(), 1), ir.reduce("sum", hot, List.of(1)));
        Ref old = ir.slice(x, begin, end);
        Ref blended = ir.add(ir.mul(old, kept), ir.matmul(hot, update));
        if (blended.type().equals(x.type())) {
            return blended;
        }
        Ref ones = ir.positions(java.util.Collections.nCopies(x.rank(), 1));
        return ir.op("slice_update", x.type(), x, ir.positions(begin), ir.positions(end), ones, blended);
    }
}
