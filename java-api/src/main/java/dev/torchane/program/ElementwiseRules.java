package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;

/** Operations that treat each element alone. */
final class ElementwiseRules {

    private ElementwiseRules() {}

    static List<Signature> signatures() {
        List<Signature> all = new ArrayList<>();
        for (String kind : List.of("add", "sub", "mul", "real_div", "floor_div", "mod", "pow", "maximum", "minimum")) {
            all.add(Signature.of(kind, "x, y", ElementwiseRules::binary));
        }
        for (String kind : List.of("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")) {
            all.add(Signature.of(kind, "x, y", ElementwiseRules::comparison));
        }
        for (String kind : List.of("logical_and", "logical_or", "logical_xor")) {
            all.add(Signature.of(kind, "x, y", ElementwiseRules::logical));
        }
        for (String kind : List.of(
                "acos",
                "asin",
                "atan",
                "atanh",
                "cos",
                "cosh",
                "erf",
                "exp",
                "exp2",
                "relu",
                "relu6",
                "sigmoid",
                "silu",
                "sin",
                "sinh",
                "softplus",
                "softsign",
                "sqrt",
                "tan",
                "tanh")) {
            all.add(Signature.of(kind, "x", ElementwiseRules::floatUnary));
        }
        for (String kind : List.of("abs", "ceil", "floor", "round", "sign", "square", "identity")) {
            all.add(Signature.of(kind, "x", call -> List.of(call.type("x"))));
        }
        all.add(Signature.of("logical_not", "x", ElementwiseRules::not));
        all.add(Signature.of("clip", "x, const alpha, const beta", ElementwiseRules::floatUnary));
        all.add(Signature.of("threshold", "x, const alpha", ElementwiseRules::floatUnary));
        all.add(Signature.of("inverse", "x, const epsilon = 1e-4", ElementwiseRules::floatUnary));
        all.add(Signature.of("rsqrt", "x, const epsilon = 1e-12", ElementwiseRules::floatUnary));
        all.add(Signature.of("log", "x, const epsilon = 1e-45", ElementwiseRules::floatUnary));
        all.add(Signature.of("leaky_relu", "x, const alpha = 0.01", ElementwiseRules::floatUnary));
        all.add(Signature.of("elu", "x, const alpha = 1.0", ElementwiseRules::floatUnary));
        all.add(Signature.of("sigmoid_hard", "x, const alpha = 0.2, const beta = 0.5", ElementwiseRules::floatUnary));
        all.add(Signature.of("scaled_tanh", "x, const alpha = 1.0, const beta = 1.0", ElementwiseRules::floatUnary));
        all.add(Signature.of(
                "linear_activation", "x, const alpha = 1.0, const beta = 0.0", ElementwiseRules::floatUnary));
        all.add(Signature.of("gelu", "x, const mode = EXACT", ElementwiseRules::gelu));
        all.add(Signature.of("prelu", "x, const alpha", ElementwiseRules::prelu));
        all.add(Signature.of("cast", "x, const dtype", ElementwiseRules::cast));
        all.add(Signature.of("select", "cond, a, b", ElementwiseRules::select));
        return all;
    }

    private static List<TensorType> binary(Call call) {
        call.sameElements("x", "y");
        DType dtype = call.type("x").dtype();
        if (dtype == DType.BOOL || dtype == DType.STRING) {
            throw call.refuse("numbers, not " + dtype.mil());
        }
        return List.of(broadcast(call, dtype));
    }

    private static List<TensorType> comparison(Call call) {
        call.sameElements("x", "y");
        return List.of(broadcast(call, DType.BOOL));
    }

    private static List<TensorType> logical(Call call) {
        requireBool(call, "x");
        requireBool(call, "y");
        return List.of(broadcast(call, DType.BOOL));
    }

    private static List<TensorType> not(Call call) {
        requireBool(call, "x");
        return List.of(call.type("x"));
    }

    private static TensorType broadcast(Call call, DType dtype) {
        return new TensorType(
                dtype,
                Shapes.broadcast(call, call.type("x").shape(), call.type("y").shape()));
    }

    private static void requireBool(Call call, String parameter) {
        if (call.type(parameter).dtype() != DType.BOOL) {
            throw call.refuse("'" + parameter + "' of bool, not "
                    + call.type(parameter).dtype().mil());
        }
    }

    static List<TensorType> floatUnary(Call call) {
        return List.of(call.floats("x"));
    }

    private static List<TensorType> gelu(Call call) {
        String mode = call.text("mode");
        if (!List.of("EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION").contains(mode)) {
            throw call.refuse("mode EXACT, TANH_APPROXIMATION or SIGMOID_APPROXIMATION, not " + mode);
        }
        return floatUnary(call);
    }

    private static List<TensorType> prelu(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 3, 5);
        call.exactly("alpha", TensorType.of(x.dtype(), x.axis(1)));
        return List.of(x);
    }

    private static List<TensorType> cast(Call call) {
        String name = call.text("dtype");
        try {
            return List.of(call.type("x").withDtype(DType.ofMil(name)));
        } catch (IllegalArgumentException e) {
            throw call.refuse("a MIL element type in 'dtype', not '" + name + "'");
        }
    }

    private static List<TensorType> select(Call call) {
        requireBool(call, "cond");
        call.sameElements("a", "b");
        List<Integer> branches =
                Shapes.broadcast(call, call.type("a").shape(), call.type("b").shape());
        return List.of(new TensorType(
                call.type("a").dtype(), Shapes.broadcast(call, call.type("cond").shape(), branches)));
    }
}
