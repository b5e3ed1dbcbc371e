package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.Target;
import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.weights.WeightType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Takes weights from the memory of their tensors, encodes them into the weight file, and puts them into functions.
 *
 * <p>Matrices of linear layers are stored in the build's encoding, the embedding and the head in {@link WeightEncoding#ofTables},
 * everything else in the program's precision.
 */
final class WeightStore implements WeightSink, WeightConstants {

    /**
     * A weight in the file.
     *
     * @param type as functions see it
     * @param encoding how it is stored
     * @param data element type and place of its data
     * @param blocks format of its blocks, if it is stored as in a GGUF
     * @param table its scales or palettes, if it has any
     * @param group rows that share a palette, or inputs that share a scale; 0 where neither is shared
     * @param error how far it is from the checkpoint's values
     * @param note why it is stored otherwise than the build's options say; empty where it is not
     */
    record Stored(
            String name,
            TensorType type,
            WeightEncoding encoding,
            Literal.Blob data,
            Optional<WeightType> blocks,
            Optional<Literal.Blob> table,
            int group,
            EncodingError error,
            String note) {

        /** How it is stored, as manifests say it: an encoding, or the format of its blocks. */
        String form() {
            return blocks.map(WeightType::id).orElse(encoding.id());
        }

        /** Bytes in the file, scales and palettes included. */
        long bytes() {
            return data.type().bytes() + table.map(each -> each.type().bytes()).orElse(0L);
        }
    }

    private final BlobFile file;
    private final DType precision;
    private final WeightEncoding encoding;
    private final StoredBlocks blocks;
    private final Map<String, Stored> stored = new LinkedHashMap<>();
    private final Map<String, String> aliases = new HashMap<>();
    private long nanos;

    /**
     * @param blocks where the blocks of weights that are to be kept are found
     */
    WeightStore(BlobFile file, BuildOptions options, StoredBlocks blocks) {
        requireStorable(options);
        this.file = file;
        this.precision = options.precision();
        this.encoding = options.weights();
        this.blocks = options.target() == Target.CPU ? blocks : StoredBlocks.NONE;
    }

    /**
     * Checks that a program of these options can hold weights of these options.
     *
     * @throws IllegalArgumentException when it cannot
     */
    static void requireStorable(BuildOptions options) {
        if (options.precision() == DType.FP16 && options.weights() == WeightEncoding.FP32) {
            throw new IllegalArgumentException("an fp16 program cannot hold fp32 weights: choose weights fp16 or int8,"
                    + " or lut4 and its kind, or precision fp32");
        }
        if (options.target() == Target.ANE && options.weights() == WeightEncoding.INT4) {
            throw new IllegalArgumentException(
                    "the Neural Engine computes wrong numbers with weights int4, whose scales"
                            + " change along the inputs: choose weights lut4 (as small), lut6 or int8");
        }
    }

    @Override
    public void tensor(String name, String dtype, List<Integer> shape, long address, long nbytes, String role) {
        long begin = System.nanoTime();
        put(name, NativeMemory.at(address, nbytes), new TensorType(DType.ofMil(dtype), shape), role);
        nanos += System.nanoTime() - begin;
    }

    /** Encodes a weight and appends it to the file; its bytes are read during the call only. */
    void put(String name, MemorySegment data, TensorType type, String role) {
        int rows = type.rank() < 2 ? 1 : type.axis(0);
        int columns = Math.toIntExact(type.elements() / Math.max(1, rows));
        put(new WeightRows(name, data, type.dtype(), rows, columns), type, role, blocks);
    }

    /**
     * Encodes a weight and appends it to the file.
     *
     * @param type its shape; its element type is that of the rows before they are encoded
     * @param found where its blocks are found, if it is to keep them
     */
    void put(WeightRows source, TensorType type, String role, StoredBlocks found) {
        String name = source.name();
        if (stored.containsKey(name) || aliases.containsKey(name)) {
            throw new TorchAneException("weight '" + name + "' was given twice");
        }
        WeightEncoding chosen = chosen(type, role);
        try (Arena arena = Arena.ofShared()) {
            EncodedWeight encoded = encode(source, chosen, type.rank(), found, arena);
            Literal.Blob blob = file.append(blobType(type, encoded), encoded.data());
            Optional<Literal.Blob> table =
                    encoded.table().map(each -> file.append(tableType(each, type.rank()), each.data()));
            int group = group(encoded, source.rows(), source.columns());
            String note = note(role, chosen, encoded.encoding(), group, source.rows(), source.columns());
            stored.put(
                    name,
                    new Stored(
                            name,
                            type.withDtype(precision),
                            encoded.encoding(),
                            blob,
                            encoded.blocks(),
                            table,
                            group,
                            encoded.error(),
                            note));
        }
    }

    private EncodedWeight encode(WeightRows source, WeightEncoding chosen, int rank, StoredBlocks found, Arena arena) {
        return (chosen == WeightEncoding.STORED && rank == 2
                        ? found.find(source, arena)
                        : Optional.<EncodedWeight>empty())
                .orElseGet(() -> WeightEncoder.encode(source, chosen, precision, arena));
    }

    private static TensorType blobType(TensorType type, EncodedWeight encoded) {
        return encoded.blocks().isPresent()
                ? TensorType.of(encoded.dtype(), Math.toIntExact(encoded.data().byteSize()))
                : type.withDtype(encoded.dtype());
    }

    private WeightEncoding chosen(TensorType type, String role) {
        boolean matrix = type.rank() >= 2 && type.elements() == (long) type.axis(0) * type.axis(1);
        return switch (role) {
            case "linear" -> matrix ? encoding : plain();
            case "embedding", "head" -> matrix ? encoding.ofTables() : plain();
            default -> plain();
        };
    }

    private WeightEncoding plain() {
        return precision == DType.FP16 ? WeightEncoding.FP16 : WeightEncoding.FP32;
    }

    /** Scales are {@code [rows, columns, 1…]}, as many axes as the data has; palettes have two more for their entries. */
    private TensorType tableType(EncodedWeight.Table table, int rank) {
        List<Integer> shape = new ArrayList<>(List.of(table.rowBlocks(), table.columnBlocks()));
        shape.addAll(Collections.nCopies(rank - 2, 1));
        if (table.entries() > 1) {
            shape.addAll(List.of(table.entries(), 1));
        }
        return new TensorType(precision, shape);
    }

    private static int group(EncodedWeight encoded, int rows, int columns) {
        return encoded.encoding().group() == 0
                ? 0
                : encoded.table()
                        .map(table -> encoded.encoding().isPalette()
                                ? rows / table.rowBlocks()
                                : columns / table.columnBlocks())
                        .orElse(0);
    }

    private String note(String role, WeightEncoding chosen, WeightEncoding became, int group, int rows, int columns) {
        if (became != chosen && chosen != WeightEncoding.STORED) {
            return columns + " inputs cannot be divided into blocks of 16 to " + chosen.group();
        }
        if (group < became.group()) {
            return became.isPalette()
                    ? "groups of " + group + ": " + became.group() + " does not divide " + rows + " rows"
                    : "blocks of " + group + ": " + became.group() + " does not divide " + columns + " inputs";
        }
        return chosen != encoding && chosen != plain() ? role + "s are not stored in " + encoding.bits() + " bits" : "";
    }

    @Override
    public void alias(String name, String of) {
        if (!stored.containsKey(resolve(of)) || stored.containsKey(name)) {
            throw new TorchAneException("weight '" + name + "' cannot be the same as '" + of + "': "
                    + (stored.containsKey(name) ? "it was given itself" : "that was not given"));
        }
        aliases.put(name, resolve(of));
    }

    @Override
    public String resolve(String name) {
        return aliases.getOrDefault(name, name);
    }

    /**
     * A weight that was given.
     *
     * @throws TorchAneException when it was not
     */
    Stored get(String name) {
        Stored weight = stored.get(resolve(name));
        if (weight == null) {
            throw new TorchAneException("weight '" + name + "' was asked for before it was given");
        }
        return weight;
    }

    /** All weights, in the order in which they were given. */
    List<Stored> all() {
        return new ArrayList<>(stored.values());
    }

    /** Time spent taking weights, in seconds. */
    double seconds() {
        return nanos / 1e9;
    }

    /** Adds a weight to a function: a constant, behind the operation that makes it the program's precision if need be. */
    @Override
    public Value emit(String name, FunctionBuilder function) {
        Stored weight = get(name);
        if (weight.blocks().isPresent()) {
            WeightType kind = weight.blocks().get();
            return function.ggml(name, function.constant(name + "_" + kind.id(), weight.data()), kind, weight.type());
        }
        if (weight.table().isPresent()) {
            boolean palette = weight.encoding().isPalette();
            Value data =
                    function.constant(name + "_" + weight.data().type().dtype().mil(), weight.data());
            Value table = function.constant(
                    name + (palette ? "_palette" : "_scale"), weight.table().get());
            return palette ? function.lutToDense(name, data, table) : function.blockwiseShiftScale(name, data, table);
        }
        if (weight.data().type().dtype() == precision) {
            return function.constant(name, weight.data());
        }
        return function.constexprCast(name, function.constant(name + "_fp16", weight.data()));
    }
}
