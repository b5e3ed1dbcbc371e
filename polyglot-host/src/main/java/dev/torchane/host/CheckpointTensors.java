package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.weights.Checkpoint;
import dev.torchane.weights.WeightTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A checkpoint's tensors at their addresses: mapped ones as they are, blocks of a GGUF as fp32, made when they are first
 * asked for. Everything lives until {@link #close()}; the checkpoint must live as long.
 */
final class CheckpointTensors implements CheckpointSource, AutoCloseable {

    private final Checkpoint checkpoint;
    private final Arena arena = Arena.ofShared();
    private final Map<String, MemorySegment> expanded = new HashMap<>();

    CheckpointTensors(Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
    }

    @Override
    public List<String> names() {
        return List.copyOf(checkpoint.tensors().keySet());
    }

    @Override
    public String dtype(String name) {
        WeightTensor tensor = checkpoint.tensor(name);
        if (!tensor.isAsStored()) {
            return "fp32";
        }
        return switch (tensor.type()) {
            case F32 -> "fp32";
            case F16 -> "fp16";
            case BF16 -> "bf16";
            default -> {
                if (tensor.type().isBlocked()) {
                    yield "fp32";
                }
                throw new TorchAneException("tensor '" + name + "' of " + checkpoint.path() + " is of type "
                        + tensor.type().label() + "; weights are F32, F16, BF16 or blocks of a GGUF");
            }
        };
    }

    @Override
    public List<Long> shape(String name) {
        return checkpoint.tensor(name).shape();
    }

    @Override
    public long address(String name) {
        WeightTensor tensor = checkpoint.tensor(name);
        if (tensor.isAsStored() && !tensor.type().isBlocked()) {
            return tensor.data().address();
        }
        return expanded.computeIfAbsent(name, each -> expand(tensor)).address();
    }

    private MemorySegment expand(WeightTensor tensor) {
        MemorySegment values = arena.allocate(Math.multiplyExact(tensor.elements(), 4L), 64);
        tensor.dequantize(values);
        return values;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
