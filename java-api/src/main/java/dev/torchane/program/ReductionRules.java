package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Operations that summarise or normalise along axes. */
final class ReductionRules {

    private ReductionRules() {}

    static List<Signature> signatures() {
        List<Signature> all = new ArrayList<>();
        for (String kind : List.of("mean", "sum", "max", "min", "prod", "sum_square")) {
            all.add(reduce(kind, ReductionRules::reduce));
        }
        for (String kind : List.of("log_sum_exp", "log_sum", "l1_norm", "l2_norm")) {
            all.add(reduce(kind, ReductionRules::reduceFloats));
        }
        for (String kind : List.of("reduce_argmax", "reduce_argmin")) {
            all.add(Signature.of(
                    kind,
                    "x, const axis = -1, const keep_dims = false, const output_dtype = int32",
                    ReductionRules::argument));
        }
        all.add(Signature.of("softmax", "x, const axis = -1", ReductionRules::softmax));
        all.add(Signature.of(
                "layer_norm", "x, const axes?, gamma?, beta?, const epsilon = 1e-5", ReductionRules::layerNorm));
        all.add(Signature.of(
                "instance_norm", "x, const gamma?, const beta?, const epsilon = 1e-5", ReductionRules::channelNorm));
        all.add(Signature.of(
                "batch_norm",
                "x, const mean, const variance, const gamma?, const beta?, const epsilon = 1e-5",
                ReductionRules::channelNorm));
        all.add(Signature.of("l2_norm", "x, const epsilon = 1e-6", ReductionRules::lastThree));
        all.add(Signature.of(
                "local_response_norm",
                "x, const size, const alpha = 1e-4, const beta = 0.75, const k = 1.0",
                ReductionRules::lastThree));
        all.add(Signature.of(
                "cumsum", "x, const axis = 0, const exclusive = false, const reverse = false", ReductionRules::cumsum));
        return all;
    }

    private static Signature reduce(String what, Signature.Rule rule) {
        return Signature.of("reduce_" + what, "x, const axes?, const keep_dims = false", rule);
    }

    private static List<TensorType> reduceFloats(Call call) {
        call.floats("x");
        return reduce(call);
    }

    private static List<TensorType> reduce(Call call) {
        TensorType x = call.type("x");
        List<Integer> axes = call.has("axes")
                ? call.axes("axes", x.rank())
                : IntStream.range(0, x.rank()).boxed().toList();
        return List.of(x.withShape(reduced(x.shape(), axes, call.flag("keep_dims"))));
    }

    private static List<Integer> reduced(List<Integer> shape, List<Integer> axes, boolean keep) {
        List<Integer> result = new ArrayList<>();
        for (int i = 0; i < shape.size(); i++) {
            if (!axes.contains(i)) {
                result.add(shape.get(i));
            } else if (keep) {
                result.add(1);
            }
        }
        return result;
    }

    private static List<TensorType> argument(Call call) {
        TensorType x = call.rank("x", 1, 5);
        int axis = call.axis("axis", x.rank());
        DType dtype = IndexRules.indexType(call, "output_dtype");
        return List.of(new TensorType(dtype, reduced(x.shape(), List.of(axis), call.flag("keep_dims"))));
    }

    private static List<TensorType> softmax(Call call) {
        TensorType x = call.floats("x");
        call.axis("axis", x.rank());
        return List.of(x);
    }

    private static List<TensorType> layerNorm(Call call) {
        TensorType x = call.floats("x");
        List<Integer> axes = call.has("axes")
                ? call.axes("axes", x.rank())
                : IntStream.range(0, x.rank()).boxed().toList();
        TensorType weights = x.withShape(axes.stream().sorted().map(x::axis).toList());
        call.exactly("gamma", weights);
        call.exactly("beta", weights);
        return List.of(x);
    }

    private static List<TensorType> channelNorm(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 3, 5);
        TensorType channels = TensorType.of(x.dtype(), x.axis(1));
        for (String parameter : List.of("mean", "variance", "gamma", "beta")) {
            call.exactly(parameter, channels);
        }
        return List.of(x);
    }

    private static List<TensorType> lastThree(Call call) {
        call.rank("x", 3, 5);
        return List.of(call.floats("x"));
    }

    private static List<TensorType> cumsum(Call call) {
        TensorType x = call.rank("x", 1, 5);
        call.axis("axis", x.rank());
        return List.of(x);
    }
}
