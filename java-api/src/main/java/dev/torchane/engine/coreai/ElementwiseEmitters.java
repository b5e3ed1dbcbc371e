package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;

/** Operations that treat each element alone. */
final class ElementwiseEmitters {

    private ElementwiseEmitters() {}

    static void register(Map<String, Emitter> table) {
        for (String same : List.of(
                "abs", "acos", "asin", "atan", "atanh", "cos", "cosh", "erf", "exp", "relu", "round", "sigmoid", "silu",
                "sin", "sinh", "sqrt", "tan", "tanh")) {
            table.put(same, one(call -> call.ir().unary(same, call.in("x"))));
        }
        for (String same : List.of("add", "sub", "mul", "pow", "maximum", "minimum")) {
            table.put(same, binary(same));
        }
        table.put("real_div", binary("divide"));
        table.put("floor_div", binary("floor_divide"));
        table.put("mod", one(call -> modulo(call.ir(), call.in("x"), call.in("y"))));
        table.put("logical_and", binary("and"));
        table.put("logical_or", binary("or"));
        table.put("logical_xor", binary("xor"));
        table.put("logical_not", one(call -> call.ir().unary("not", call.in("x"))));
        comparisons(table);
        compositions(table);
        activations(table);
        table.put("identity", one(call -> call.in("x")));
        table.put("cast", one(call -> cast(call.ir(), call.in("x"), call.type().dtype())));
        table.put("select", one(call -> call.ir().where(call.in("cond"), call.in("a"), call.in("b"))));
    }

    private static Emitter one(Emitter.One emitter) {
        return emitter;
    }

    private static Emitter binary(String name) {
        return one(call -> call.ir().binary(name, call.in("x"), call.in("y")));
    }

    private static Emitter pair(java.util.function.Function<Ir, BinaryOperator<Ref>> form) {
        return one(call -> form.apply(call.ir()).apply(call.in("x"), call.in("y")));
    }

    private static Emitter from(java.util.function.Function<Ir, UnaryOperator<Ref>> form) {
        return one(call -> form.apply(call.ir()).apply(call.in("x")));
    }

    /** Core AI's remainder has the sign of x, MIL's that of y. */
    private static Ref modulo(Ir ir, Ref x, Ref y) {
        return ir.sub(x, ir.mul(ir.binary("floor_divide", x, y), y));
    }

    private static void comparisons(Map<String, Emitter> table) {
        table.put("equal", pair(ir -> (x, y) -> ir.compare("equal", x, y)));
        table.put("not_equal", pair(ir -> (x, y) -> ir.compare("not_equal", x, y)));
        table.put("greater", pair(ir -> (x, y) -> ir.compare("greater", x, y)));
        table.put("less", pair(ir -> (x, y) -> ir.compare("greater", y, x)));
        table.put("greater_equal", pair(ir -> ir::greaterOrEqual));
        table.put("less_equal", pair(ir -> (x, y) -> ir.greaterOrEqual(y, x)));
    }

    private static void compositions(Map<String, Emitter> table) {
        table.put("floor", from(ir -> ir::floor));
        table.put("ceil", from(ir -> x -> negated(ir, ir.floor(negated(ir, x)))));
        table.put("square", from(ir -> x -> ir.mul(x, x)));
        table.put("sign", from(ir -> ElementwiseEmitters.sign(ir)));
        table.put("exp2", from(ir -> x -> ir.binary("pow", ir.scalar(x.dtype(), 2), x)));
        table.put("rsqrt", one(call -> call.ir().unary("rsqrt", plusEpsilon(call))));
        table.put("log", one(call -> call.ir().unary("log", plusEpsilon(call))));
        table.put("inverse", one(call -> call.ir().binary("divide", scalar(call, 1), plusEpsilon(call))));
        table.put("clip", one(call -> clip(call.ir(), call.in("x"), call.number("alpha"), call.number("beta"))));
        table.put("threshold", one(call -> call.ir().binary("maximum", call.in("x"), call.number("alpha"))));
        table.put("relu6", from(ir -> x -> clip(ir, x, 0, 6)));
    }

    private static void activations(Map<String, Emitter> table) {
        table.put("softplus", from(ElementwiseEmitters::softplus));
        table.put("softsign", from(ir -> x -> ir.binary("divide", x, ir.binary("add", ir.unary("abs", x), 1))));
        table.put("gelu", one(ElementwiseEmitters::gelu));
        table.put("leaky_relu", one(call -> kinked(call, call.ir().binary("mul", call.in("x"), call.number("alpha")))));
        table.put("prelu", one(call -> kinked(call, call.ir().mul(call.in("x"), channels(call, call.in("alpha"))))));
        table.put("elu", one(ElementwiseEmitters::elu));
        table.put("sigmoid_hard", one(call -> clip(call.ir(), affine(call, call.in("x")), 0, 1)));
        table.put("linear_activation", one(call -> affine(call, call.in("x"))));
        table.put("scaled_tanh", one(call -> {
            Ref inner = call.ir().binary("mul", call.in("x"), call.number("beta"));
            return call.ir().binary("mul", call.ir().unary("tanh", inner), call.number("alpha"));
        }));
    }

    private static Ref scalar(OperationCall call, double value) {
        return call.ir().scalar(call.in("x").dtype(), value);
    }

    private static Ref plusEpsilon(OperationCall call) {
        double epsilon = call.in("x").dtype().rounded(call.number("epsilon"));
        return epsilon == 0 ? call.in("x") : call.ir().binary("add", call.in("x"), epsilon);
    }

    private static Ref negated(Ir ir, Ref x) {
        return ir.binary("mul", x, -1);
    }

    private static UnaryOperator<Ref> sign(Ir ir) {
        return x -> {
            Ref zero = ir.scalar(x.dtype(), 0);
            Ref negative = ir.where(ir.compare("greater", zero, x), ir.scalar(x.dtype(), -1), zero);
            return ir.where(ir.compare("greater", x, zero), ir.scalar(x.dtype(), 1), negative);
        };
    }

    static Ref clip(Ir ir, Ref x, double least, double most) {
        return ir.binary("minimum", ir.binary("maximum", x, least), most);
    }

    /** {@code max(x, 0) + log(1 + exp(-|x|))}, which does not overflow. */
    private static UnaryOperator<Ref> softplus(Ir ir) {
        return x -> {
            Ref small = ir.unary("exp", negated(ir, ir.unary("abs", x)));
            return ir.add(ir.unary("relu", x), ir.unary("log", ir.binary("add", small, 1)));
        };
    }

    private static Ref gelu(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        return switch (call.text("mode")) {
            case "EXACT" -> ir.unary("gelu", x);
            case "TANH_APPROXIMATION" -> {
                Ref cube = ir.binary("mul", ir.mul(x, ir.mul(x, x)), 0.044715);
                Ref tanh = ir.unary("tanh", ir.binary("mul", ir.add(x, cube), Math.sqrt(2 / Math.PI)));
                yield ir.mul(ir.binary("mul", x, 0.5), ir.binary("add", tanh, 1));
            }
            default -> ir.mul(x, ir.unary("sigmoid", ir.binary("mul", x, 1.702)));
        };
    }

    /** x where it is positive, something else elsewhere. */
    private static Ref kinked(OperationCall call, Ref below) {
        Ref x = call.in("x");
        return call.ir().where(call.ir().compare("greater", x, scalar(call, 0)), x, below);
    }

    private static Ref elu(OperationCall call) {
        Ir ir = call.ir();
        Ref below = ir.binary("sub", ir.unary("exp", ir.binary("minimum", call.in("x"), 0)), 1);
        return kinked(call, ir.binary("mul", below, call.number("alpha")));
    }

    private static Ref affine(OperationCall call, Ref x) {
        return call.ir().binary("add", call.ir().binary("mul", x, call.number("alpha")), call.number("beta"));
    }

    /** One number for each channel, along the second axis of x. */
    static Ref channels(OperationCall call, Ref perChannel) {
        List<Integer> shape = new ArrayList<>(Collections.nCopies(call.in("x").rank(), 1));
        shape.set(1, perChannel.type().axis(0));
        return call.ir().reshape(perChannel, shape);
    }

    private static Ref cast(Ir ir, Ref x, DType dtype) {
        if (dtype == DType.BOOL && x.dtype() != DType.BOOL) {
            return ir.compare("not_equal", x, ir.scalar(x.dtype(), 0));
        }
        return ir.cast(x, dtype);
    }
}
