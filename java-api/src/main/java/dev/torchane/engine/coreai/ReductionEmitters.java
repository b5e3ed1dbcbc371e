package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** Operations that summarise or normalise along axes. */
final class ReductionEmitters {

    private ReductionEmitters() {}

    static void register(Map<String, Emitter> table) {
        table.put("reduce_sum", reduction((ir, x) -> x, "sum", (ir, y) -> y));
        table.put("reduce_mean", one(ReductionEmitters::mean));
        table.put("reduce_max", reduction((ir, x) -> x, "max", (ir, y) -> y));
        table.put("reduce_min", reduction((ir, x) -> x, "min", (ir, y) -> y));
        table.put("reduce_prod", reduction((ir, x) -> x, "product", (ir, y) -> y));
        table.put("reduce_sum_square", reduction((ir, x) -> ir.mul(x, x), "sum", (ir, y) -> y));
        table.put("reduce_l1_norm", reduction((ir, x) -> ir.unary("abs", x), "sum", (ir, y) -> y));
        table.put("reduce_l2_norm", reduction((ir, x) -> ir.mul(x, x), "sum", (ir, y) -> ir.unary("sqrt", y)));
        table.put("reduce_log_sum", reduction((ir, x) -> x, "sum", (ir, y) -> ir.unary("log", y)));
        table.put("reduce_log_sum_exp", one(ReductionEmitters::logSumExp));
        table.put("reduce_argmax", one(call -> argument(call, call.in("x"))));
        table.put("reduce_argmin", one(call -> argument(call, call.ir().binary("mul", call.in("x"), -1))));
        table.put("softmax", one(call -> {
            Ref x = call.in("x");
            Ref axis = call.ir().scalar(DType.INT32, call.axis("axis", x.rank()));
            return call.ir().op("softmax", x.type(), x, axis);
        }));
        table.put("layer_norm", one(ReductionEmitters::layerNorm));
        table.put("instance_norm", one(ReductionEmitters::instanceNorm));
        table.put("batch_norm", one(ReductionEmitters::batchNorm));
        table.put("l2_norm", one(ReductionEmitters::l2Norm));
        table.put("local_response_norm", one(ReductionEmitters::localResponseNorm));
        table.put("cumsum", one(ReductionEmitters::cumsum));
    }

    private static Emitter one(Emitter.One emitter) {
        return emitter;
    }

    private static Emitter reduction(BiFunction<Ir, Ref, Ref> before, String name, BiFunction<Ir, Ref, Ref> after) {
        return one(call -> {
            Ir ir = call.ir();
            Ref x = call.in("x");
            Ref reduced = ir.reduce(name, before.apply(ir, x), call.axes("axes", x.rank()));
            return ir.reshape(after.apply(ir, reduced), call.type().shape());
        });
    }

    /** Core AI has a mean of floats only. */
    private static Ref mean(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        List<Integer> axes = call.axes("axes", x.rank());
        if (x.dtype().isFloat()) {
            return ir.reshape(ir.reduce("mean", x, axes), call.type().shape());
        }
        long count = axes.stream().mapToLong(axis -> x.type().axis(axis)).reduce(1, (a, b) -> a * b);
        Ref sum = ir.reduce("sum", x, axes);
        return ir.reshape(ir.binary("divide", sum, count), call.type().shape());
    }

    private static Ref logSumExp(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        List<Integer> axes = call.axes("axes", x.rank());
        Ref most = ir.reduce("max", x, axes);
        Ref sum = ir.reduce("sum", ir.unary("exp", ir.sub(x, most)), axes);
        return ir.reshape(ir.add(ir.unary("log", sum), most), call.type().shape());
    }

    private static Ref argument(OperationCall call, Ref x) {
        Ir ir = call.ir();
        int axis = call.axis("axis", x.rank());
        List<Integer> shape = new ArrayList<>(x.shape());
        shape.set(axis, 1);
        Ref found = ir.op("argmax", new TensorType(DType.UINT32, shape), x, ir.scalar(DType.INT32, axis));
        return ir.reshape(ir.cast(found, call.type().dtype()), call.type().shape());
    }

    /** {@code (x − mean) / sqrt(variance + epsilon)} over axes. */
    private static Ref normed(OperationCall call, Ref x, List<Integer> axes) {
        Ir ir = call.ir();
        Ref centred = ir.sub(x, ir.reduce("mean", x, axes));
        Ref variance = ir.reduce("mean", ir.mul(centred, centred), axes);
        return ir.mul(centred, ir.unary("rsqrt", ir.binary("add", variance, call.number("epsilon"))));
    }

    private static Ref layerNorm(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        List<Integer> axes = call.axes("axes", x.rank());
        List<Integer> shape = new ArrayList<>(Collections.nCopies(x.rank(), 1));
        axes.forEach(axis -> shape.set(axis, x.type().axis(axis)));
        Ref result = normed(call, x, axes);
        if (call.has("gamma")) {
            result = ir.mul(result, ir.reshape(call.in("gamma"), shape));
        }
        return call.has("beta") ? ir.add(result, ir.reshape(call.in("beta"), shape)) : result;
    }

    private static Ref instanceNorm(OperationCall call) {
        Ref x = call.in("x");
        return scaled(call, normed(call, x, Ir.range(x.rank()).subList(2, x.rank())));
    }

    private static Ref scaled(OperationCall call, Ref normed) {
        Ref result = normed;
        if (call.has("gamma")) {
            result = call.ir().mul(result, ElementwiseEmitters.channels(call, call.in("gamma")));
        }
        return call.has("beta") ? call.ir().add(result, ElementwiseEmitters.channels(call, call.in("beta"))) : result;
    }

    private static Ref batchNorm(OperationCall call) {
        Ir ir = call.ir();
        Ref centred = ir.sub(call.in("x"), ElementwiseEmitters.channels(call, call.in("mean")));
        Ref variance = ir.binary("add", call.in("variance"), call.number("epsilon"));
        return scaled(call, ir.mul(centred, ElementwiseEmitters.channels(call, ir.unary("rsqrt", variance))));
    }

    private static Ref l2Norm(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        Ref sum = ir.reduce("sum", ir.mul(x, x), Ir.range(x.rank()).subList(x.rank() - 3, x.rank()));
        return ir.mul(x, ir.unary("rsqrt", ir.binary("add", sum, call.number("epsilon"))));
    }

    /** {@code x / (k + alpha / size · Σ x²)^beta} over neighbouring channels. */
    private static Ref localResponseNorm(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        int axis = x.rank() - 3;
        int size = call.integer("size");
        List<Integer> pad = new ArrayList<>(Collections.nCopies(2 * x.rank(), 0));
        pad.set(2 * axis, size / 2);
        pad.set(2 * axis + 1, (size - 1) / 2);
        Ref padded = ir.pad(ir.mul(x, x), pad, "constant", 0);
        Ref sum = null;
        for (int shift = 0; shift < size; shift++) {
            List<Integer> begin = new ArrayList<>(Collections.nCopies(x.rank(), 0));
            List<Integer> end = new ArrayList<>(x.shape());
            begin.set(axis, shift);
            end.set(axis, shift + x.type().axis(axis));
            Ref part = ir.slice(padded, begin, end);
            sum = sum == null ? part : ir.add(sum, part);
        }
        Ref base = ir.binary("add", ir.binary("mul", sum, call.number("alpha") / size), call.number("k"));
        return ir.binary("divide", x, ir.binary("pow", base, call.number("beta")));
    }

    private static Ref cumsum(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        Ref axis = ir.scalar(DType.UINT32, call.axis("axis", x.rank()));
        Ref reverse = ir.scalar(DType.BOOL, call.flag("reverse") ? 1 : 0);
        Ref sums = ir.op("scan", "{scan_op = 0 : i32}", x.type(), x, axis, reverse);
        return call.flag("exclusive") ? ir.sub(sums, x) : sums;
    }
}
