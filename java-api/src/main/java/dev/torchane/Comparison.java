package dev.torchane;

import dev.torchane.engine.Tensor;
import dev.torchane.program.TensorType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** Compares what a module computes with what torch computes. */
final class Comparison {

    private Comparison() {}

    static Validation of(Map<String, Tensor> found, Map<String, Tensor> expected) {
        if (!found.keySet().equals(expected.keySet())) {
            throw new TorchAneException(
                    "the compiled module has the outputs " + found.keySet() + ", torch has " + expected.keySet());
        }
        Map<String, Validation.Difference> differences = new LinkedHashMap<>();
        found.forEach((name, tensor) -> differences.put(name, difference(name, tensor, expected.get(name))));
        return new Validation(differences);
    }

    private static Validation.Difference difference(String name, Tensor found, Tensor expected) {
        if (!found.type().shape().equals(expected.type().shape())) {
            throw new TorchAneException("output '" + name + "' is " + found.type() + ", torch has " + expected.type());
        }
        double largest = 0;
        double sum = 0;
        double scale = 1;
        long count = found.type().elements();
        for (long i = 0; i < count; i++) {
            float a = found.get(i);
            float b = expected.get(i);
            double difference = a == b || (Float.isNaN(a) && Float.isNaN(b)) ? 0 : Math.abs((double) a - b);
            largest = Math.max(largest, difference);
            sum += difference;
            scale = Float.isFinite(b) ? Math.max(scale, Math.abs(b)) : scale;
        }
        return new Validation.Difference(largest, largest / scale, sum / Math.max(1, count));
    }

    static Map<String, Tensor> inputs(Map<String, TensorType> types) {
        Random random = new Random(1);
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        types.forEach((name, type) -> {
            Tensor tensor = Tensor.allocate(type);
            for (long i = 0; i < type.elements(); i++) {
                tensor.set(i, value(type, random));
            }
            inputs.put(name, tensor);
        });
        return inputs;
    }

    private static float value(TensorType type, Random random) {
        if (type.dtype().isFloat()) {
            return (float) random.nextGaussian();
        }
        return random.nextInt(2);
    }
}
