package dev.torchane.engine.coreml;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Constants move into the package, in types and forms that Core ML has.
 *
 * <pre>
 * Given   const of bf16, fp64; const of int64, uint32, uint64      Result  const of fp32; const of int32
 * Given   cast(dtype = "int64")                                    Result  cast(dtype = "int32")
 * Given   ane.constexpr_ggml of fp32                               Result  constexpr_cast(const of fp16)
 * Given   ane.constexpr_ggml of fp16                               Result  const of fp16
 *
 * before iOS 18
 * Given   constexpr_blockwise_shift_scale(int8 [N, K], [N, 1])     Result  constexpr_affine_dequantize(axis = 0)
 * Given   other constexpr_blockwise_…, constexpr_lut_to_dense, …   Result  as ane.constexpr_ggml
 *
 * before iOS 17
 * Given   input, cast or plain constant of int8, uint8, int16, …   Result  of int32
 * </pre>
 */
final class StoreConstants implements FunctionCopy.Change {

    private static final String BLOCKS = "ane.constexpr_ggml";
    private static final Set<String> SINCE_IOS18 = Set.of("constexpr_blockwise_shift_scale", "constexpr_lut_to_dense");
    private static final Set<String> TYPE_NAMES = Set.of("dtype", "output_dtype", "output_indices_dtype");

    /** What weight files hold before iOS 18. */
    private static final Set<DType> IN_FILES = Set.of(DType.FP32, DType.FP16, DType.INT8, DType.UINT8);

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final CoreMlOpset opset;
    private final PackageWeights weights;
    private final DenseConstants dense;
    private final FunctionBuilder to;
    private final Map<String, Literal> literals = new HashMap<>();
    private final Set<String> needed = new HashSet<>();
    private final Set<String> compressed = new HashSet<>();

    StoreConstants(Function function, CoreMlOpset opset, PackageWeights weights, FunctionBuilder to) {
        this.opset = opset;
        this.weights = weights;
        this.dense = new DenseConstants(weights);
        this.to = to;
        for (Operation operation : function.operations()) {
            if (!expanded(operation)) {
                Set<String> users = operation.kind().startsWith("constexpr_") ? compressed : needed;
                operation.inputs().values().forEach(values -> values.forEach(value -> users.add(value.name())));
            }
        }
        function.outputs().forEach(value -> needed.add(value.name()));
    }

    /** Whether an operation is written in another form. */
    private boolean expanded(Operation operation) {
        return operation.kind().equals(BLOCKS)
                || (!opset.atLeast(CoreMlOpset.IOS18) && SINCE_IOS18.contains(operation.kind()));
    }

    /** The type that takes the place of one that Core ML does not compute with. */
    private DType kept(DType dtype) {
        return switch (dtype) {
            case BF16, FP64 -> DType.FP32;
            case INT64, UINT32, UINT64 -> DType.INT32;
            case INT8, UINT8, INT16, UINT16 -> opset.atLeast(CoreMlOpset.IOS17) ? dtype : DType.INT32;
            default -> dtype;
        };
    }

    @Override
    public Value input(Value input, FunctionBuilder into) {
        TensorType type = input.type().withDtype(kept(input.type().dtype()));
        return input.state() ? into.state(input.name(), type) : into.input(input.name(), type);
    }

    @Override
    public Optional<List<Value>> of(Operation operation, FunctionCopy copy) {
        Optional<Literal> constant = operation.constant();
        if (constant.isPresent()) {
            String name = operation.output().name();
            literals.put(name, constant.get());
            boolean written = needed.contains(name) || compressed.contains(name);
            return Optional.of(written ? List.of(to.constant(name, stored(name, constant.get()))) : List.of());
        }
        if (expanded(operation)) {
            return Optional.of(List.of(expand(operation)));
        }
        Map<String, Operand> replaced = new LinkedHashMap<>();
        if (!operation.kind().startsWith("constexpr_")) {
            operation.inputs().forEach((parameter, values) -> {
                if (TYPE_NAMES.contains(parameter)) {
                    DType wanted = DType.ofMil(text(operation, parameter));
                    replaced.put(parameter, Literal.text(kept(wanted).mil()));
                }
            });
        }
        return replaced.isEmpty() ? Optional.empty() : Optional.of(copy.operation(operation, replaced));
    }

    private String text(Operation operation, String parameter) {
        if (literal(operation, parameter) instanceof Literal.Text(String text)) {
            return text;
        }
        throw new TorchAneException(operation.kind() + " '" + operation.output().name() + "' needs '" + parameter
                + "' as text written in the program");
    }

    private Literal literal(Operation operation, String parameter) {
        Literal literal = literals.get(operation.input(parameter).orElseThrow().name());
        if (literal == null) {
            throw new TorchAneException(
                    operation.kind() + " '" + operation.output().name() + "' has a computed '" + parameter
                            + "', which has no form in " + opset);
        }
        return literal;
    }

    private Literal stored(String name, Literal literal) {
        DType dtype = compressed.contains(name)
                ? literal.type().dtype()
                : kept(literal.type().dtype());
        boolean same = dtype == literal.type().dtype();
        boolean inFile = opset.atLeast(CoreMlOpset.IOS18) || IN_FILES.contains(dtype);
        return switch (literal) {
            case Literal.Blob blob when same && inFile -> weights.copy(blob);
            case Literal.Blob blob
            when dtype == DType.FP32 ->
                weights.made(
                        blob,
                        blob.type().withDtype(DType.FP32),
                        sink -> DenseConstants.write(new Tensor(blob.type(), weights.bytes(blob)), DType.FP32, sink));
            case Literal.Blob blob -> numbers(name, blob, dtype);
            case Literal.Numbers numbers when !same -> retyped(name, numbers.type(), numbers.values(), dtype);
            default -> literal;
        };
    }

    /** Integers of a weight file, written in the program. */
    private Literal numbers(String name, Literal.Blob blob, DType dtype) {
        MemorySegment data = weights.bytes(blob);
        List<Double> values = new ArrayList<>();
        for (long i = 0; i < blob.type().elements(); i++) {
            values.add(
                    switch (blob.type().dtype()) {
                        case INT32 -> (double) data.getAtIndex(INT, i);
                        case UINT32 -> (double) Integer.toUnsignedLong(data.getAtIndex(INT, i));
                        default -> (double) new Tensor(blob.type(), data).get(i);
                    });
        }
        return retyped(name, blob.type(), values, dtype);
    }

    private static Literal retyped(String name, TensorType type, List<Double> values, DType dtype) {
        try {
            return new Literal.Numbers(type.withDtype(dtype), values);
        } catch (IllegalArgumentException e) {
            throw new TorchAneException(
                    "the constant '" + name + "' of " + type + " becomes " + dtype.mil()
                            + " in Core ML, which cannot hold it: " + e.getMessage(),
                    e);
        }
    }

    private Value expand(Operation operation) {
        Value result = operation.output();
        if (operation.kind().equals("constexpr_blockwise_shift_scale") && perRow(operation)) {
            return perRowAffine(operation);
        }
        Map<String, Literal> operands = new LinkedHashMap<>();
        operation.inputs().keySet().forEach(parameter -> operands.put(parameter, literal(operation, parameter)));
        Literal.Blob half = dense.half(operation, operands);
        return result.type().dtype() == DType.FP16
                ? to.constant(result.name(), half)
                : to.constexprCast(result.name(), to.constant(result.name() + "_fp16", half));
    }

    /** Whether there is one scale for each index of the first axis, int8 data, and no offset. */
    private static boolean perRow(Operation operation) {
        TensorType data = operation.input("data").orElseThrow().type();
        TensorType scale = operation.input("scale").orElseThrow().type();
        return data.dtype() == DType.INT8
                && operation.input("offset").isEmpty()
                && scale.elements() == data.axis(0)
                && scale.axis(0) == data.axis(0);
    }

    private Value perRowAffine(Operation operation) {
        String name = operation.output().name();
        Literal scale = literal(operation, "scale");
        TensorType row = TensorType.of(scale.type().dtype(), scale.type().axis(0));
        Literal flat = switch (scale) {
            case Literal.Blob blob -> weights.made(blob, row, sink -> sink.accept(weights.bytes(blob)));
            case Literal.Numbers numbers -> new Literal.Numbers(row, numbers.values());
            default -> throw new TorchAneException("the scale of '" + name + "' is no tensor of numbers");
        };
        Literal data = literal(operation, "data");
        return to.apply(
                "constexpr_affine_dequantize",
                name,
                Map.of(
                        "quantized_data",
                        to.constant(name + "_data", data instanceof Literal.Blob blob ? weights.copy(blob) : data),
                        "zero_point",
                        Literal.scalar(DType.INT8, 0),
                        "scale",
                        to.constant(name + "_scale", flat),
                        "axis",
                        Literal.int32(0)));
    }
}
