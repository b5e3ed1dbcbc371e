package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;

/** Products of matrices. */
final class LinearRules {

    private LinearRules() {}

    static List<Signature> signatures() {
        return List.of(
                Signature.of("linear", "x, weight, bias?", LinearRules::linear),
                Signature.of(
                        "matmul", "x, y, const transpose_x = false, const transpose_y = false", LinearRules::matmul),
                Signature.of("einsum", "values..., const equation", LinearRules::einsum),
                Signature.of("scaled_dot_product_attention", "query, key, value, attn_mask?", LinearRules::attention));
    }

    private static List<TensorType> linear(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 1, 5);
        call.sameElements("x", "weight");
        TensorType weight = call.rank("weight", 2, 2);
        if (weight.axis(1) != x.axis(-1)) {
            throw call.refuse("'weight' of shape [N, " + x.axis(-1) + "], not " + weight);
        }
        call.exactly("bias", TensorType.of(x.dtype(), weight.axis(0)));
        return List.of(x.withShape(Shapes.with(x.shape(), x.rank() - 1, weight.axis(0))));
    }

    private static List<TensorType> matmul(Call call) {
        TensorType x = call.rank("x", 1, 5);
        TensorType y = call.rank("y", 1, 5);
        call.sameElements("x", "y");
        if (x.rank() == 1 && y.rank() == 1) {
            throw call.refuse("at least one operand of rank 2 or more");
        }
        boolean vectorX = x.rank() == 1;
        boolean vectorY = y.rank() == 1;
        List<Integer> left = vectorX ? List.of(1, x.axis(0)) : x.shape();
        List<Integer> right = vectorY ? List.of(y.axis(0), 1) : y.shape();
        int[] rowsAndInner = lastTwo(left, !vectorX && call.flag("transpose_x"));
        int[] innerAndColumns = lastTwo(right, !vectorY && call.flag("transpose_y"));
        if (rowsAndInner[1] != innerAndColumns[0]) {
            throw call.refuse("equal inner sizes, not " + rowsAndInner[1] + " and " + innerAndColumns[0]);
        }
        List<Integer> shape = new ArrayList<>(
                Shapes.broadcast(call, left.subList(0, left.size() - 2), right.subList(0, right.size() - 2)));
        if (!vectorX) {
            shape.add(rowsAndInner[0]);
        }
        if (!vectorY) {
            shape.add(innerAndColumns[1]);
        }
        return List.of(x.withShape(shape));
    }

    private static int[] lastTwo(List<Integer> shape, boolean transposed) {
        int rows = shape.get(shape.size() - 2);
        int columns = shape.getLast();
        return transposed ? new int[] {columns, rows} : new int[] {rows, columns};
    }

    /** MIL's two forms, {@code nchw,nwhu->nchu} and {@code chw,whr->chr}, under any names of the axes. */
    private static List<TensorType> einsum(Call call) {
        List<TensorType> values = call.types("values");
        String equation = call.text("equation").replace(" ", "");
        String[] sides = equation.split("->", -1);
        String[] terms = sides[0].split(",", -1);
        if (sides.length != 2 || terms.length != 2 || values.size() != 2 || !supported(equation)) {
            throw call.refuse(
                    "the equation 'nchw,nwhu->nchu' or 'chw,whr->chr' with two values, not '" + equation + "'");
        }
        int[] sizes = new int[128];
        for (int i = 0; i < 2; i++) {
            List<Integer> shape = values.get(i).shape();
            if (shape.size() != terms[i].length()
                    || values.get(i).dtype() != values.getFirst().dtype()) {
                throw call.refuse("value " + i + " of rank " + terms[i].length() + " and "
                        + values.getFirst().dtype().mil() + " for '" + equation + "'");
            }
            for (int axis = 0; axis < shape.size(); axis++) {
                char label = terms[i].charAt(axis);
                if (sizes[label] != 0 && sizes[label] != shape.get(axis)) {
                    throw call.refuse("one size for '" + label + "' of '" + equation + "', not " + sizes[label]
                            + " and " + shape.get(axis));
                }
                sizes[label] = shape.get(axis);
            }
        }
        List<Integer> shape = sides[1].chars().mapToObj(label -> sizes[label]).toList();
        return List.of(values.getFirst().withShape(shape));
    }

    /** Whether an equation is one of the two forms up to the names of its axes. */
    private static boolean supported(String equation) {
        StringBuilder canonical = new StringBuilder();
        List<Character> seen = new ArrayList<>();
        for (char c : equation.toCharArray()) {
            if (c >= 'a' && c <= 'z') {
                if (!seen.contains(c)) {
                    seen.add(c);
                }
                canonical.append((char) ('a' + seen.indexOf(c)));
            } else {
                canonical.append(c);
            }
        }
        return canonical.toString().equals("abcd,adce->abce")
                || canonical.toString().equals("abc,cbd->abd");
    }

    private static List<TensorType> attention(Call call) {
        TensorType query = call.floats("query");
        call.rank("query", 3, 5);
        TensorType key = call.rank("key", query.rank(), query.rank());
        TensorType value = call.rank("value", query.rank(), query.rank());
        call.sameElements("query", "key");
        call.sameElements("query", "value");
        if (key.axis(-1) != query.axis(-1) || key.axis(-2) != value.axis(-2)) {
            throw call.refuse(
                    "'key' of [.., S, " + query.axis(-1) + "] and 'value' of [.., S, E], not " + key + " and " + value);
        }
        int batchRank = query.rank() - 2;
        List<Integer> batch = query.shape().subList(0, batchRank);
        if (!key.shape().subList(0, batchRank).equals(batch)
                || !value.shape().subList(0, batchRank).equals(batch)) {
            throw call.refuse(
                    "the batch axes " + batch + " in 'key' and 'value', not those of " + key + " and " + value);
        }
        if (call.has("attn_mask")) {
            TensorType mask = call.type("attn_mask");
            List<Integer> scores = Shapes.with(query.shape(), query.rank() - 1, key.axis(-2));
            boolean elements = mask.dtype() == DType.BOOL || mask.dtype() == query.dtype();
            if (!elements || !Shapes.broadcast(call, mask.shape(), scores).equals(scores)) {
                throw call.refuse("'attn_mask' of bool or " + query.dtype().mil() + " that broadcasts to " + scores
                        + ", not " + mask);
            }
        }
        return List.of(query.withShape(Shapes.with(query.shape(), query.rank() - 1, value.axis(-1))));
    }
}
