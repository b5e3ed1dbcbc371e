package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.weights.WeightType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Constants and {@code constexpr_*} as Core AI's compressed constants. */
final class ConstantText {

    private final Ir ir;
    private final WeightItems items;
    private final Function<Value, Optional<Literal>> literals;

    ConstantText(Ir ir, WeightItems items, Function<Value, Optional<Literal>> literals) {
        this.ir = ir;
        this.items = items;
        this.literals = literals;
    }

    static boolean known(String kind) {
        return kind.startsWith("constexpr_") || kind.equals("ane.constexpr_ggml");
    }

    Ref literal(String name, Literal literal) {
        return switch (literal) {
            case Literal.Numbers numbers -> ir.constant(numbers.type(), numbers.values());
            case Literal.Bool(boolean value) -> ir.scalar(DType.BOOL, value ? 1 : 0);
            case Literal.Blob blob -> ir.data(blob.type(), items.of(blob));
            default ->
                throw new TorchAneException("the constant '" + name + "' is text, which is no tensor in Core AI");
        };
    }

    /** The tensor that a {@code constexpr_*} operation stands for. */
    Ref expression(Operation operation) {
        TensorType type = operation.output().type();
        return switch (operation.kind()) {
            case "constexpr_cast" -> ir.cast(operand(operation, "source_val"), type.dtype());
            case "constexpr_blockwise_shift_scale" -> blockwise(operation, type);
            case "constexpr_affine_dequantize" -> affine(operation, type);
            case "constexpr_lut_to_dense" -> {
                int axis = operation.input("vector_axis").isPresent() ? (int) number(operation, "vector_axis") : 0;
                Ref place = ir.scalar(DType.INT16, Math.floorMod(axis, type.rank()));
                yield ir.op("lut_to_dense", type, operand(operation, "indices"), operand(operation, "lut"), place);
            }
            case "ane.constexpr_ggml" -> blocks(operation, type);
            default ->
                throw new TorchAneException(operation.kind() + " '"
                        + operation.output().name() + "' has no form in Core AI: "
                        + Emitters.REFUSED.getOrDefault(operation.kind(), "it is not known"));
        };
    }

    private Ref operand(Operation operation, String parameter) {
        Value value = operation.input(parameter).orElseThrow();
        return literal(value.name(), literals.apply(value).orElseThrow());
    }

    private double number(Operation operation, String parameter) {
        if (literals.apply(operation.input(parameter).orElseThrow()).orElseThrow() instanceof Literal.Numbers numbers) {
            return numbers.values().getFirst();
        }
        throw new TorchAneException(
                "'" + parameter + "' of '" + operation.output().name() + "' is not a number written in the program");
    }

    private Ref zeros(TensorType type) {
        return ir.constant(type, Collections.nCopies((int) type.elements(), 0.0));
    }

    /** MIL has {@code scale · (data − offset)}, Core AI {@code scale · (data − offset1) + offset2}. */
    private Ref blockwise(Operation operation, TensorType type) {
        Ref data = operand(operation, "data");
        Ref scale = operand(operation, "scale");
        Ref before = zeros(data.type().withShape(scale.shape()));
        Ref after = zeros(scale.type());
        if (operation.input("offset").isPresent()) {
            Ref offset = operand(operation, "offset");
            if (offset.dtype().isFloat()) {
                after = ir.binary("mul", ir.mul(scale, ir.cast(offset, scale.dtype())), -1);
            } else {
                before = offset;
            }
        }
        return ir.op("blockwise_shift_scale", type, data, scale, before, after);
    }

    private Ref affine(Operation operation, TensorType type) {
        Ref data = operand(operation, "quantized_data");
        int axis = Math.floorMod((int) number(operation, "axis"), type.rank());
        List<Integer> whole = new ArrayList<>(Collections.nCopies(type.rank(), 1));
        whole.set(axis, type.axis(axis));
        Ref scale = along(operand(operation, "scale"), axis, whole);
        Ref zero = along(operand(operation, "zero_point"), axis, whole);
        return ir.op("blockwise_shift_scale", type, data, scale, zero, zeros(scale.type()));
    }

    private Ref along(Ref numbers, int axis, List<Integer> whole) {
        List<Integer> line = new ArrayList<>(whole);
        line.set(axis, (int) numbers.type().elements());
        return ir.broadcastTo(ir.reshape(numbers, line), whole);
    }

    private Ref blocks(Operation operation, TensorType type) {
        Value data = operation.input("data").orElseThrow();
        if (literals.apply(data).orElse(null) instanceof Literal.Blob blob
                && literals.apply(operation.input("kind").orElseThrow()).orElse(null)
                        instanceof Literal.Text(String kind)) {
            return ir.data(type, items.expanded(blob, WeightType.block(kind).orElseThrow(), type));
        }
        throw new TorchAneException("the blocks of '" + operation.output().name() + "' are not in a weight file");
    }
}
