package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Named tensors in a file that both processes map. Every byte is written first, so that a full disk is an error here. */
final class SharedFile implements AutoCloseable {

    private static final int ALIGNMENT = 64;
    private static final int TILE = 1 << 20;

    private final Path file;
    private final Arena arena = Arena.ofShared();
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();
    private final Map<String, Long> offsets = new LinkedHashMap<>();
    private boolean closed;

    /**
     * Makes the file, all zero.
     *
     * @throws TorchAneException when the disk refuses
     */
    SharedFile(Path file, List<Value> values) {
        this.file = file;
        long size = 0;
        for (Value value : values) {
            offsets.put(value.name(), size);
            size += Math.ceilDiv(value.type().bytes(), (long) ALIGNMENT) * ALIGNMENT;
        }
        size = Math.max(size, ALIGNMENT);
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(size, TILE));
            for (long at = 0; at < size; at += zeros.capacity()) {
                zeros.position(0).limit((int) Math.min(zeros.capacity(), size - at));
                while (zeros.hasRemaining()) {
                    channel.write(zeros);
                }
            }
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
            for (Value value : values) {
                TensorType type = value.type();
                tensors.put(value.name(), new Tensor(type, mapped.asSlice(offsets.get(value.name()), type.bytes())));
            }
        } catch (IOException e) {
            close();
            throw new TorchAneException("cannot make " + file + " of " + size + " bytes for tensors: " + e, e);
        }
    }

    /** Its name as JSON. */
    String name() {
        return HelperProcess.json(file);
    }

    Tensor tensor(String name) {
        return tensors.get(name);
    }

    /** Some of the tensors as the other process is told of them, {@code [name, type, shape, offset]} each; here they have a prefix. */
    String layout(String prefix, List<Value> values) {
        return values.stream()
                .map(value -> "[\"%s\",\"%s\",%s,%d]"
                        .formatted(
                                value.name(),
                                value.type().dtype().mil(),
                                value.type().shape(),
                                offsets.get(prefix + value.name())))
                .collect(Collectors.joining(",", "[", "]"));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            arena.close();
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                file.toFile().deleteOnExit();
            }
        }
    }
}
