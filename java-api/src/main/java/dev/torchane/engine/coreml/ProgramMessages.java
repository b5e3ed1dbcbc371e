package dev.torchane.engine.coreml;

import com.google.protobuf.ByteString;
import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.Program;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Programs as messages. Constants become {@code const} operations; those that only compressed constants use stand in these,
 * as Core ML expects them.
 */
final class ProgramMessages {

    /** Version of the program format; Core ML knows one. */
    private static final long FORMAT = 1;

    private final CoreMlOpset opset;
    private final Function function;
    private final Map<String, Literal> literals = new HashMap<>();
    private final Set<String> standing = new HashSet<>();

    private ProgramMessages(CoreMlOpset opset, Function function) {
        this.opset = opset;
        this.function = function;
        for (Operation operation : function.operations()) {
            operation
                    .constant()
                    .ifPresent(literal -> literals.put(operation.output().name(), literal));
            if (!compressed(operation)) {
                operation.inputs().values().forEach(this::stand);
            }
        }
        stand(function.outputs());
    }

    private void stand(List<Value> values) {
        values.forEach(value -> standing.add(value.name()));
    }

    /** A program, all of whose operations Core ML has. */
    static Message program(Program program, CoreMlOpset opset) {
        Message message = new Message().integer(Schema.PROGRAM_VERSION, FORMAT);
        for (Function function : program.functions()) {
            message.entry(
                    Schema.PROGRAM_FUNCTIONS, function.name(), new ProgramMessages(opset, function).functionMessage());
        }
        return message.entry(Schema.PROGRAM_ATTRIBUTES, "buildInfo", dictionary(program.buildInfo()));
    }

    private static boolean compressed(Operation operation) {
        return operation.kind().startsWith("constexpr_");
    }

    private Message functionMessage() {
        Message block = new Message()
                .texts(
                        Schema.BLOCK_OUTPUTS,
                        function.outputs().stream().map(Value::name).toList());
        for (Operation operation : function.operations()) {
            boolean written = operation.constant().isEmpty()
                    || standing.contains(operation.output().name());
            if (written) {
                block.child(Schema.BLOCK_OPERATIONS, operation(operation));
            }
        }
        return new Message()
                .children(
                        Schema.FUNCTION_INPUTS,
                        function.inputs().stream().map(ProgramMessages::named).toList())
                .text(Schema.FUNCTION_OPSET, opset.id())
                .entry(Schema.FUNCTION_BLOCKS, opset.id(), block);
    }

    private Message operation(Operation operation) {
        Message message = new Message().text(Schema.OPERATION_TYPE, operation.kind());
        // The operation sets of iOS 16 and 17 take what a compressed constant is made of as attributes.
        boolean attributes = compressed(operation)
                && (!opset.atLeast(CoreMlOpset.IOS18)
                        || operation.kind().equals("constexpr_cast")
                        || operation.kind().equals("constexpr_affine_dequantize"));
        operation.inputs().forEach((parameter, values) -> {
            if (attributes) {
                message.entry(Schema.OPERATION_ATTRIBUTES, parameter, value(stored(operation, values.getFirst())));
            } else {
                message.entry(Schema.OPERATION_INPUTS, parameter, argument(operation, values));
            }
        });
        message.children(
                Schema.OPERATION_OUTPUTS,
                operation.outputs().stream().map(ProgramMessages::named).toList());
        String name = operation.attributes().get("name") instanceof Literal.Text(String text)
                ? text
                : operation.outputs().isEmpty()
                        ? operation.kind()
                        : operation.output().name();
        message.entry(Schema.OPERATION_ATTRIBUTES, "name", value(Literal.text(name)));
        operation.constant().ifPresent(literal -> message.entry(Schema.OPERATION_ATTRIBUTES, "val", value(literal)));
        return message;
    }

    private Message argument(Operation operation, List<Value> values) {
        List<Message> bindings = new ArrayList<>();
        for (Value value : values) {
            Literal literal = literals.get(value.name());
            bindings.add(
                    compressed(operation) && literal != null
                            ? new Message().child(Schema.BINDING_VALUE, value(literal))
                            : new Message().text(Schema.BINDING_NAME, value.name()));
        }
        return new Message().children(Schema.ARGUMENT_BINDINGS, bindings);
    }

    private Literal stored(Operation operation, Value value) {
        Literal literal = literals.get(value.name());
        if (literal == null) {
            throw new TorchAneException("function '" + function.name() + "': " + operation.kind() + " '"
                    + operation.output().name() + "' is made of '" + value.name()
                    + "', which is computed; in Core ML it has to be stored");
        }
        return literal;
    }

    private static Message named(Value value) {
        Message type = type(value.type());
        return new Message()
                .text(Schema.NAMED_TYPE_NAME, value.name())
                .child(
                        Schema.NAMED_TYPE_TYPE,
                        value.state()
                                ? new Message()
                                        .child(Schema.TYPE_STATE, new Message().child(Schema.STATE_WRAPPED, type))
                                : type);
    }

    private static Message type(TensorType type) {
        int dtype = Schema.dataType(type.dtype())
                .orElseThrow(() -> new TorchAneException(
                        "Core ML has no elements of type " + type.dtype().mil() + ", which a program uses as " + type));
        Message tensor = new Message().integer(Schema.TENSOR_DATA_TYPE, dtype).integer(Schema.TENSOR_RANK, type.rank());
        for (int size : type.shape()) {
            tensor.child(
                    Schema.TENSOR_DIMENSIONS,
                    new Message().child(Schema.DIMENSION_CONSTANT, new Message().integer(Schema.CONSTANT_SIZE, size)));
        }
        return new Message().child(Schema.TYPE_TENSOR, tensor);
    }

    private static Message value(Literal literal) {
        Message message = new Message().child(Schema.VALUE_TYPE, type(literal.type()));
        if (literal instanceof Literal.Blob blob) {
            return message.child(
                    Schema.VALUE_BLOB,
                    new Message().text(Schema.BLOB_FILE_NAME, blob.path()).integer(Schema.BLOB_OFFSET, blob.offset()));
        }
        return message.child(Schema.VALUE_IMMEDIATE, new Message().child(Schema.IMMEDIATE_TENSOR, immediate(literal)));
    }

    private static Message immediate(Literal literal) {
        return switch (literal) {
            case Literal.Text(String text) -> strings(List.of(text));
            case Literal.Texts(List<String> texts) -> strings(texts);
            case Literal.Bool(boolean truth) ->
                new Message()
                        .child(Schema.TENSOR_BOOLS, new Message().integers(Schema.VALUES, List.of(truth ? 1L : 0L)));
            case Literal.Numbers numbers -> numbers(numbers);
            case Literal.Blob blob -> throw new IllegalArgumentException(blob + " lies in a file");
        };
    }

    private static Message strings(List<String> texts) {
        return new Message().child(Schema.TENSOR_STRINGS, new Message().texts(Schema.VALUES, texts));
    }

    private static Message numbers(Literal.Numbers numbers) {
        DType dtype = numbers.type().dtype();
        List<Long> integers = dtype.isFloat()
                ? List.of()
                : numbers.values().stream().map(Double::longValue).toList();
        return switch (dtype) {
            case FP32 ->
                new Message().child(Schema.TENSOR_FLOATS, new Message().floats(Schema.VALUES, numbers.values()));
            case BOOL -> new Message().child(Schema.TENSOR_BOOLS, new Message().integers(Schema.VALUES, integers));
            case INT32, INT16, UINT16 ->
                new Message().child(Schema.TENSOR_INTS, new Message().integers(Schema.VALUES, integers));
            case FP16 -> bytes(halves(numbers.values()));
            default -> bytes(packed(integers, dtype));
        };
    }

    private static Message bytes(ByteBuffer bytes) {
        return new Message().child(Schema.TENSOR_BYTES, new Message().bytes(Schema.VALUES, ByteString.copyFrom(bytes)));
    }

    private static ByteBuffer halves(List<Double> values) {
        ByteBuffer buffer = ByteBuffer.allocate(Math.multiplyExact(values.size(), Short.BYTES))
                .order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(value -> buffer.putShort(Float.floatToFloat16(value.floatValue())));
        return buffer.flip();
    }

    /** Elements of up to eight bits, densely, the first one in the lowest bits. */
    private static ByteBuffer packed(List<Long> values, DType dtype) {
        byte[] bytes = new byte[Math.toIntExact(dtype.bytes(values.size()))];
        long bit = 0;
        for (long value : values) {
            for (int i = 0; i < dtype.bits(); i++, bit++) {
                bytes[(int) (bit >> 3)] |= (byte) ((value >> i & 1) << (bit & 7));
            }
        }
        return ByteBuffer.wrap(bytes);
    }

    private static Message dictionary(Map<String, String> pairs) {
        Message string = type(TensorType.of(DType.STRING));
        Message values = new Message();
        pairs.forEach((key, value) -> values.child(
                Schema.DICTIONARY_PAIRS,
                new Message()
                        .child(Schema.PAIR_KEY, value(Literal.text(key)))
                        .child(Schema.PAIR_VALUE, value(Literal.text(value)))));
        return new Message()
                .child(
                        Schema.VALUE_TYPE,
                        new Message()
                                .child(
                                        Schema.TYPE_DICTIONARY,
                                        new Message()
                                                .child(Schema.DICTIONARY_KEY_TYPE, string)
                                                .child(Schema.DICTIONARY_VALUE_TYPE, string)))
                .child(Schema.VALUE_IMMEDIATE, new Message().child(Schema.IMMEDIATE_DICTIONARY, values));
    }
}
