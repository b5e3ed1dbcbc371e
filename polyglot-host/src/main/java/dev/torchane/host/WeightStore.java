package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Takes weights from the memory of their tensors, encodes them into the weight file, and puts them into functions.
 *
 * <p>Matrices of linear layers and the embedding are stored in the build's encoding, everything else in the program's
 * precision.
 */
final class WeightStore implements WeightSink {

    /**
     * A weight in the file.
     *
     * @param type as functions see it
     * @param encoding how it is stored
     * @param data element type and place of its data
     * @param scale its scales, when it is int8
     * @param maxError largest absolute difference from the checkpoint's values
     */
    record Stored(
            String name,
            TensorType type,
            WeightEncoding encoding,
            Literal.Blob data,
            Optional<Literal.Blob> scale,
            double maxError) {

        /** Bytes in the file, scales included. */
        long bytes() {
            return data.type().bytes() + scale.map(each -> each.type().bytes()).orElse(0L);
        }
    }

    private static final List<String> ENCODED_ROLES = List.of("linear", "embedding");

    private final BlobFile file;
    private final DType precision;
    private final WeightEncoding encoding;
    private final Map<String, Stored> stored = new LinkedHashMap<>();
    private final Map<String, String> aliases = new HashMap<>();
    private long nanos;

    WeightStore(BlobFile file, BuildOptions options) {
        requireStorable(options);
        this.file = file;
        this.precision = options.precision();
        this.encoding = options.weights();
    }

    /**
     * Checks that a program of these options can hold weights of these options.
     *
     * @throws IllegalArgumentException when it cannot
     */
    static void requireStorable(BuildOptions options) {
        if (options.precision() == DType.FP16 && options.weights() == WeightEncoding.FP32) {
            throw new IllegalArgumentException(
                    "an fp16 program cannot hold fp32 weights: choose weights fp16 or int8, or precision fp32");
        }
    }

    @Override
    public void tensor(String name, String dtype, List<Integer> shape, long address, long nbytes, String role) {
        long begin = System.nanoTime();
        put(name, NativeMemory.at(address, nbytes), new TensorType(DType.ofMil(dtype), shape), role);
        nanos += System.nanoTime() - begin;
    }

    private void put(String name, MemorySegment source, TensorType type, String role) {
        if (stored.containsKey(name) || aliases.containsKey(name)) {
            throw new TorchAneException("weight '" + name + "' was given twice");
        }
        boolean matrix = type.rank() == 2 && ENCODED_ROLES.contains(role);
        WeightEncoding chosen = matrix ? encoding : precision == DType.FP16 ? WeightEncoding.FP16 : WeightEncoding.FP32;
        int rows = type.rank() < 2 ? 1 : type.axis(0);
        int columns = Math.toIntExact(type.elements() / Math.max(1, rows));
        try (Arena arena = Arena.ofShared()) {
            WeightEncoder.Encoded encoded =
                    WeightEncoder.encode(name, source, type.dtype(), rows, columns, chosen, precision, arena);
            Literal.Blob data = file.append(type.withDtype(encoded.dtype()), encoded.data());
            Optional<Literal.Blob> scale =
                    encoded.scale().map(scales -> file.append(TensorType.of(precision, rows, 1), scales));
            stored.put(name, new Stored(name, type.withDtype(precision), chosen, data, scale, encoded.maxError()));
        }
    }

    @Override
    public void alias(String name, String of) {
        if (!stored.containsKey(resolve(of)) || stored.containsKey(name)) {
            throw new TorchAneException("weight '" + name + "' cannot be the same as '" + of + "': "
                    + (stored.containsKey(name) ? "it was given itself" : "that was not given"));
        }
        aliases.put(name, resolve(of));
    }

    /** The name a weight is stored under. */
    String resolve(String name) {
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
    Value emit(String name, FunctionBuilder function) {
        Stored weight = get(name);
        if (weight.scale().isPresent()) {
            Value data = function.constant(name + "_int8", weight.data());
            Value scale = function.constant(name + "_scale", weight.scale().get());
            return function.blockwiseShiftScale(name, data, scale);
        }
        if (weight.data().type().dtype() == precision) {
            return function.constant(name, weight.data());
        }
        return function.constexprCast(name, function.constant(name + "_fp16", weight.data()));
    }
}
