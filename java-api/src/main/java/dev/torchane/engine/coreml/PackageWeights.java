package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.program.WeightFileWriter;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** The weight file of a package: each constant once, however many functions and operations use it. */
final class PackageWeights {

    /** How a program names the weight file. */
    static final String PATH = "@model_path/weights/weight.bin";

    private final Function<Literal.Blob, MemorySegment> source;
    private final WeightFileWriter writer;
    private final Map<Object, Literal.Blob> written = new HashMap<>();

    /**
     * @param source the bytes of the program's own blobs
     * @param writer of the package's file
     */
    PackageWeights(Function<Literal.Blob, MemorySegment> source, WeightFileWriter writer) {
        this.source = source;
        this.writer = writer;
    }

    /** The bytes of one of the program's blobs. */
    MemorySegment bytes(Literal.Blob blob) {
        return source.apply(blob);
    }

    /** The same bytes in the package. */
    Literal.Blob copy(Literal.Blob blob) {
        return written.computeIfAbsent(
                List.of(blob),
                each -> new Literal.Blob(blob.type(), PATH, writer.append(blob.type(), source.apply(blob))));
    }

    /**
     * A constant in another form than the program stores it.
     *
     * @param key what it is made of
     * @param tiles hands its bytes to the consumer it is given, in order
     */
    Literal.Blob made(Object key, TensorType type, Consumer<Consumer<MemorySegment>> tiles) {
        DType dtype = type.dtype();
        return written.computeIfAbsent(
                List.of(type, key), each -> new Literal.Blob(type, PATH, writer.append(dtype, type.bytes(), tiles)));
    }
}
