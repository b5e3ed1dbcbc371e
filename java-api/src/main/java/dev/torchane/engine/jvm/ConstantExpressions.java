package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.weights.WeightType;
import java.util.Optional;
import java.util.function.Function;

/** Reads the {@code constexpr_*} operations of a program: weights that are stored in another form than they are used. */
final class ConstantExpressions {

    private static final String GGML = "ane.constexpr_ggml";

    private ConstantExpressions() {}

    /** Whether an operation is one of these. */
    static boolean known(String kind) {
        return kind.startsWith("constexpr_") || kind.equals(GGML);
    }

    /** Whether an operation's result is stored in the program or its weights: one of these, or a plain constant. */
    static boolean isConstant(Operation operation) {
        return operation.kind().equals("const") || known(operation.kind());
    }

    /** The weight that a {@code constexpr_*} operation describes; its operands are constants, found by {@code literal}. */
    static WeightRef weight(Operation operation, Function<Value, Literal> literal) {
        TensorType type = operation.output().type();
        return switch (operation.kind()) {
            case "constexpr_cast" -> new WeightRef.Plain(type, operand(operation, "source_val", literal));
            case "constexpr_blockwise_shift_scale" ->
                new WeightRef.Blockwise(
                        type,
                        operand(operation, "data", literal),
                        operand(operation, "scale", literal),
                        optional(operation, "offset", literal));
            case "constexpr_affine_dequantize" ->
                new WeightRef.Affine(
                        type,
                        operand(operation, "quantized_data", literal),
                        operand(operation, "scale", literal),
                        operand(operation, "zero_point", literal),
                        integer(operation, "axis", literal));
            case "constexpr_lut_to_dense" ->
                new WeightRef.Palette(
                        type,
                        operand(operation, "indices", literal),
                        operand(operation, "lut", literal),
                        integer(operation, "vector_axis", literal));
            case GGML ->
                new WeightRef.Ggml(
                        type,
                        operand(operation, "data", literal),
                        WeightType.block(text(operand(operation, "kind", literal)))
                                .orElseThrow());
            default ->
                throw new TorchAneException("the jvm engine does not know the operation '" + operation.kind()
                        + "' (result '" + operation.output().name() + "')");
        };
    }

    private static Literal operand(Operation operation, String parameter, Function<Value, Literal> literal) {
        return optional(operation, parameter, literal)
                .orElseThrow(() -> new TorchAneException("operation " + operation.kind() + " '"
                        + operation.output().name() + "' needs a constant '" + parameter + "'"));
    }

    private static Optional<Literal> optional(Operation operation, String parameter, Function<Value, Literal> literal) {
        return operation.input(parameter).map(literal);
    }

    private static String text(Literal literal) {
        return literal instanceof Literal.Text(String text) ? text : "";
    }

    private static int integer(Operation operation, String parameter, Function<Value, Literal> literal) {
        return optional(operation, parameter, literal)
                .filter(value -> value instanceof Literal.Numbers)
                .map(value -> ((Literal.Numbers) value).values().getFirst().intValue())
                .orElse(0);
    }
}
