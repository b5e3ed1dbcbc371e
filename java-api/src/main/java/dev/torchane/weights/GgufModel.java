package dev.torchane.weights;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * A GGUF file seen as a Hugging Face model.
 *
 * @param config what config.json would say
 * @param tensors by Hugging Face name
 */
record GgufModel(ObjectNode config, Map<String, WeightTensor> tensors) {

    static GgufModel of(GgufFile gguf) {
        GgufArchitecture architecture = GgufArchitecture.of(gguf.metadata());
        Map<String, GgufFile.Tensor> ropeFactors = new LinkedHashMap<>();
        GgufConfig config = new GgufConfig(gguf, architecture);
        Map<String, WeightTensor> tensors = new LinkedHashMap<>();
        for (GgufFile.Tensor tensor : gguf.tensors()) {
            if (GgufRope.FACTORS.contains(tensor.name())) {
                ropeFactors.put(tensor.name(), tensor);
            } else if (GgufNames.isExperts(architecture, tensor.name())) {
                experts(gguf.file(), config.experts(), tensor).forEach(part -> tensors.put(part.name(), part));
            } else {
                WeightTensor renamed = renamed(gguf.file(), architecture, config, tensor);
                tensors.put(renamed.name(), renamed);
            }
        }
        return new GgufModel(config.json(tensors, ropeFactors), tensors);
    }

    /** Hugging Face checkpoints have a matrix for each expert: slices of the one that is here. */
    private static List<WeightTensor> experts(Path file, long count, GgufFile.Tensor tensor) {
        List<Long> shape = tensor.shape();
        if (shape.size() != 3 || shape.getFirst() != count) {
            throw new CheckpointFault.BadTensor(
                            file,
                            tensor.name(),
                            "has shape " + shape + ", expected three axes and " + count + " experts")
                    .exception();
        }
        List<Long> one = shape.subList(1, 3);
        long bytes = tensor.data().byteSize() / count;
        return LongStream.range(0, count)
                .mapToObj(expert -> new WeightTensor(
                        GgufNames.expert(tensor.name(), expert),
                        tensor.type(),
                        one,
                        tensor.data().asSlice(expert * bytes, bytes),
                        RowOrder.FILE,
                        0))
                .toList();
    }

    private static WeightTensor renamed(
            Path file, GgufArchitecture architecture, GgufConfig config, GgufFile.Tensor tensor) {
        String name = GgufNames.huggingFace(architecture, tensor.name())
                .orElseThrow(() -> new CheckpointFault.BadTensor(
                                file,
                                tensor.name(),
                                "does not belong to the architecture " + architecture.id()
                                        + "; ignoring it would change the model")
                        .exception());
        boolean paired = architecture.pairsRows() && name.matches(".*\\.self_attn\\.[qk]_proj\\.(weight|bias)");
        RowOrder order = paired ? order(file, config, tensor) : RowOrder.FILE;
        float shift = name.endsWith("norm.weight") ? architecture.normShift() : 0;
        return new WeightTensor(name, tensor.type(), tensor.shape(), tensor.data(), order, shift);
    }

    private static RowOrder order(Path file, GgufConfig config, GgufFile.Tensor tensor) {
        long headDim = config.headDim();
        List<Long> shape = tensor.shape();
        if (shape.isEmpty() || shape.getFirst() % headDim != 0 || headDim % 2 != 0) {
            throw new CheckpointFault.BadTensor(
                            file,
                            tensor.name(),
                            "has shape " + shape + ", whose rows are not whole heads of " + headDim)
                    .exception();
        }
        return new RowOrder(headDim);
    }
}
