package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.weights.WeightType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The tensors that a text refers to by number: regions of the bundle's weight file as they are, and of a file beside the text for
 * blocks of a GGUF, which Core AI has no form for and which are expanded here. Each stands once, whatever functions use it.
 */
final class WeightItems implements AutoCloseable {

    private static final int TILE = 1 << 18;

    /**
     * A region of a file.
     *
     * @param type what lies there, densely packed
     */
    record Item(Path file, long offset, TensorType type) {}

    /** What an item is made from. */
    private record Key(Literal.Blob blob, TensorType type) {}

    private final Bundle bundle;
    private final Path made;
    private final Map<Key, Integer> numbers = new HashMap<>();
    private final List<Item> items = new ArrayList<>();
    private FileChannel channel;

    WeightItems(Bundle bundle, Path made) {
        this.bundle = bundle;
        this.made = made;
    }

    List<Item> items() {
        return List.copyOf(items);
    }

    /** The number of a blob. */
    int of(Literal.Blob blob) {
        return numbers.computeIfAbsent(new Key(blob, blob.type()), _ -> {
            bundle.data(blob);
            return add(new Item(bundle.weights().file(), bundle.weights().position(blob.offset()), blob.type()));
        });
    }

    private int add(Item item) {
        items.add(item);
        return items.size() - 1;
    }

    /** The number of blocks of a GGUF, expanded to fp16 or fp32. */
    int expanded(Literal.Blob blob, WeightType kind, TensorType type) {
        Integer known = numbers.get(new Key(blob, type));
        if (known != null) {
            return known;
        }
        try {
            if (channel == null) {
                channel = FileChannel.open(made, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            }
            long offset = channel.size();
            write(kind, bundle.data(blob), type);
            int number = add(new Item(made, offset, type));
            numbers.put(new Key(blob, type), number);
            return number;
        } catch (IOException e) {
            throw new TorchAneException("cannot write expanded weights to " + made + ": " + e, e);
        }
    }

    private void write(WeightType kind, MemorySegment blocks, TensorType type) throws IOException {
        long elements = type.elements();
        int most = TILE / kind.blockElements() * kind.blockElements();
        try (Arena arena = Arena.ofConfined()) {
            Tensor floats = Tensor.allocate(TensorType.of(DType.FP32, most), arena);
            Tensor halves = Tensor.allocate(TensorType.of(DType.FP16, most), arena);
            for (long first = 0; first < elements; first += most) {
                int count = (int) Math.min(most, elements - first);
                kind.dequantize(blocks.asSlice(kind.bytes(first), kind.bytes(count)), count, floats.data());
                Tensor out = floats;
                if (type.dtype() == DType.FP16) {
                    for (int i = 0; i < count; i++) {
                        halves.set(i, floats.get(i));
                    }
                    out = halves;
                }
                var bytes = out.data().asSlice(0, type.dtype().bytes(count)).asByteBuffer();
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }
        }
    }

    @Override
    public void close() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            throw new TorchAneException("cannot write expanded weights to " + made + ": " + e, e);
        }
    }
}
