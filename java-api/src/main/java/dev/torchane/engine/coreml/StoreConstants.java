package dev.torchane.engine.coreml;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.weights.WeightType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Constants move into the package, in types that Core ML has.
 *
 * <pre>
 * Given   const of bf16, fp64; const of int64, uint32, uint64     Result  const of fp32; const of int32
 * Given   cast(dtype = "int64")                                   Result  cast(dtype = "int32")
 * Given   ane.constexpr_ggml(dtype = "fp32")                      Result  constexpr_cast(const of fp16)
 * Given   ane.constexpr_ggml(dtype = "fp16")                      Result  const of fp16
 * </pre>
 */
final class StoreConstants implements FunctionCopy.Change {

    private static final String BLOCKS = "ane.constexpr_ggml";
    private static final int TILE = 1 << 18;

    private final PackageWeights weights;
    private final FunctionBuilder to;
    private final Map<String, Literal> literals = new HashMap<>();
    private final Set<String> used = new HashSet<>();

    StoreConstants(Function function, PackageWeights weights, FunctionBuilder to) {
        this.weights = weights;
        this.to = to;
        function.operations().stream()
                .filter(operation -> !operation.kind().equals(BLOCKS))
                .forEach(operation -> operation.inputs().values().forEach(this::use));
        use(function.outputs());
    }

    private void use(List<Value> values) {
        values.forEach(value -> used.add(value.name()));
    }

    /** The type that takes the place of one that Core ML does not compute with. */
    static DType kept(DType dtype) {
        return switch (dtype) {
            case BF16, FP64 -> DType.FP32;
            case INT64, UINT32, UINT64 -> DType.INT32;
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
            if (!used.contains(name)) {
                return Optional.of(List.of());
            }
            return Optional.of(List.of(to.constant(name, stored(name, constant.get()))));
        }
        return switch (operation.kind()) {
            case "cast" -> {
                DType wanted = DType.ofMil(text(operation, "dtype"));
                yield Optional.of(copy.operation(
                        operation, Map.of("dtype", Literal.text(kept(wanted).mil()))));
            }
            case BLOCKS -> Optional.of(List.of(blocks(operation)));
            default -> Optional.empty();
        };
    }

    private String text(Operation operation, String parameter) {
        if (operation.input(parameter).map(each -> literals.get(each.name())).orElse(null)
                instanceof Literal.Text(String text)) {
            return text;
        }
        throw new TorchAneException(operation.kind() + " '" + operation.output().name() + "' needs '" + parameter
                + "' as text written in the program");
    }

    private Literal stored(String name, Literal literal) {
        DType dtype = kept(literal.type().dtype());
        boolean same = dtype == literal.type().dtype();
        return switch (literal) {
            case Literal.Blob blob -> same ? weights.copy(blob) : retyped(name, blob, dtype);
            case Literal.Numbers numbers
            when !same -> {
                try {
                    yield new Literal.Numbers(numbers.type().withDtype(dtype), numbers.values());
                } catch (IllegalArgumentException e) {
                    throw tooLarge(name, literal, e);
                }
            }
            default -> literal;
        };
    }

    /** Of the types that are not kept, weight files hold bf16 and uint32. */
    private Literal.Blob retyped(String name, Literal.Blob blob, DType dtype) {
        TensorType type = blob.type().withDtype(dtype);
        MemorySegment data = weights.bytes(blob);
        if (blob.type().dtype() == DType.UINT32) {
            for (long i = 0; i < type.elements(); i++) {
                if (data.get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 4 * i) < 0) {
                    throw tooLarge(name, blob, new IllegalArgumentException("element " + i + " is 2^31 or more"));
                }
            }
            return weights.made(blob, type, sink -> sink.accept(data));
        }
        return weights.made(blob, type, sink -> {
            Tensor from = new Tensor(blob.type(), data);
            tiles(type, 1, sink, (first, tile) -> {
                for (int i = 0; i < tile.type().elements(); i++) {
                    tile.set(i, from.get(first + i));
                }
            });
        });
    }

    private static TorchAneException tooLarge(String name, Literal literal, IllegalArgumentException cause) {
        return new TorchAneException(
                "the constant '" + name + "' of " + literal.type() + " becomes int32 in Core ML, which cannot hold it: "
                        + cause.getMessage(),
                cause);
    }

    private Value blocks(Operation operation) {
        Value result = operation.output();
        Literal data =
                operation.input("data").map(each -> literals.get(each.name())).orElse(null);
        if (!(data instanceof Literal.Blob blob)) {
            throw new TorchAneException("the blocks of '" + result.name() + "' are not in a weight file");
        }
        WeightType kind = WeightType.block(text(operation, "kind")).orElseThrow();
        MemorySegment bytes = weights.bytes(blob);
        TensorType type = result.type().withDtype(DType.FP16);
        Literal.Blob half = weights.made(
                blob,
                type,
                sink -> tiles(type, kind.blockElements(), sink, (first, tile) -> {
                    long count = tile.type().elements();
                    Tensor floats = Tensor.allocate(TensorType.of(DType.FP32, (int) count));
                    kind.dequantize(bytes.asSlice(kind.bytes(first), kind.bytes(count)), count, floats.data());
                    for (int i = 0; i < count; i++) {
                        tile.set(i, floats.get(i));
                    }
                }));
        if (result.type().dtype() == DType.FP16) {
            return to.constant(result.name(), half);
        }
        return to.constexprCast(result.name(), to.constant(result.name() + "_fp16", half));
    }

    @FunctionalInterface
    private interface Fill {
        void tile(long first, Tensor tile);
    }

    /** Hands a tensor over in tiles of whole blocks. */
    private static void tiles(TensorType type, int block, Consumer<MemorySegment> sink, Fill fill) {
        long elements = type.elements();
        int most = TILE / block * block;
        for (long first = 0; first < elements; first += most) {
            int count = (int) Math.min(most, elements - first);
            try (Arena arena = Arena.ofConfined()) {
                Tensor tile = Tensor.allocate(TensorType.of(type.dtype(), count), arena);
                fill.tile(first, tile);
                sink.accept(tile.data());
            }
        }
    }
}
