package dev.torchane.program;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The one list of operations of each group, as docs/architecture.md gives it. */
final class Groups {

    private Groups() {}

    static Value rmsNorm(Operations f, String name, Value x, Value weight, double epsilon) {
        boolean narrow = x.type().dtype() != DType.FP32;
        Value wide = narrow ? f.cast(name + "_wide", x, DType.FP32) : x;
        Value square = f.mul(name + "_square", wide, wide);
        Value mean = f.reduceMean(name + "_mean", square, List.of(-1), true);
        Value factor = f.rsqrt(name + "_factor", mean, epsilon);
        Value normed = f.mul(name + "_normed", wide, factor);
        Value narrowed = narrow ? f.cast(name + "_narrow", normed, x.type().dtype()) : normed;
        return f.mul(name, narrowed, weight);
    }

    static Value rope(Operations f, String name, Value x, Value cos, Value sin) {
        TensorType type = x.type();
        int size = type.axis(-1);
        if (size % 2 != 0) {
            throw new IllegalArgumentException("rope '" + name + "' needs an even last axis, found " + type);
        }
        List<Integer> zeros = Collections.nCopies(type.rank(), 0);
        List<Integer> half = Shapes.with(type.shape(), type.rank() - 1, size / 2);
        Value first = f.sliceByIndex(name + "_first", x, zeros, half);
        Value second = f.sliceByIndex(name + "_second", x, Shapes.with(zeros, type.rank() - 1, size / 2), type.shape());
        Value negated = f.mul(name + "_negated", second, Literal.scalar(type.dtype(), -1));
        Value rotated = f.concat(name + "_rotated", List.of(negated, first), -1);
        Value cosPart = f.mul(name + "_cos", x, cos);
        Value sinPart = f.mul(name + "_sin", rotated, sin);
        return f.add(name, cosPart, sinPart);
    }

    static Value sdpa(Operations f, String name, Value q, Value k, Value v, Value mask, double scale) {
        int heads = q.type().axis(1);
        int kvHeads = k.type().axis(1);
        if (q.type().rank() != 4 || k.type().rank() != 4 || kvHeads == 0 || heads % kvHeads != 0) {
            throw new IllegalArgumentException(
                    "sdpa '" + name + "' needs q [1, H, Q, D] and k [1, kv, M, D] with kv dividing" + " H, found "
                            + q.type() + " and " + k.type());
        }
        Value scaled = f.mul(name + "_scaled", q, Literal.scalar(q.type().dtype(), scale));
        boolean grouped = heads != kvHeads;
        Value queries = scaled;
        Value keys = k;
        Value values = v;
        if (grouped) {
            List<Integer> shape = new ArrayList<>(q.type().shape());
            shape.set(1, kvHeads);
            shape.add(2, heads / kvHeads);
            queries = f.reshape(
                    name + "_grouped",
                    scaled,
                    shape.stream().mapToInt(Integer::intValue).toArray());
            keys = f.expandDims(name + "_keys", k, 2);
            values = f.expandDims(name + "_values", v, 2);
        }
        Value scores = f.matmul(name + "_scores", queries, keys, false, true);
        Value masked = f.add(name + "_masked", scores, mask);
        Value weights = f.softmax(name + "_weights", masked, -1);
        if (!grouped) {
            return f.matmul(name, weights, values, false, false);
        }
        Value mixed = f.matmul(name + "_mixed", weights, values, false, false);
        return f.reshape(
                name,
                mixed,
                Shapes.with(q.type().shape(), 3, v.type().axis(-1)).stream()
                        .mapToInt(Integer::intValue)
                        .toArray());
    }
}
