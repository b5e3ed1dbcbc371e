package dev.torchane.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The inputs of one call, from files of NumPy or JSON, the rest at random. */
final class GivenTensors {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, Tensor> tensors = new LinkedHashMap<>();

    /**
     * Reads what the command line names: {@code NAME=FILE.npy}, {@code FILE.npz}, or {@code FILE.json} with an object of nested
     * lists.
     */
    static GivenTensors of(List<String> files) {
        GivenTensors given = new GivenTensors();
        for (String file : files) {
            int equals = file.indexOf('=');
            if (file.endsWith(".npz")) {
                given.tensors.putAll(NumpyFile.readAll(Path.of(file)));
            } else if (file.endsWith(".json")) {
                given.json(Path.of(file));
            } else if (equals > 0 && file.endsWith(".npy")) {
                given.tensors.put(file.substring(0, equals), NumpyFile.read(Path.of(file.substring(equals + 1))));
            } else {
                throw new TorchAneException(
                        "inputs are given as NAME=FILE.npy, FILE.npz or FILE.json, not '" + file + "'");
            }
        }
        return given;
    }

    private void json(Path file) {
        try {
            JsonNode tree = JSON.readTree(file.toFile());
            if (!tree.isObject()) {
                throw new TorchAneException(file + ": expected an object with a list for each input");
            }
            tree.properties().forEach(each -> tensors.put(each.getKey(), tensor(file, each.getKey(), each.getValue())));
        } catch (IOException e) {
            throw new TorchAneException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private static Tensor tensor(Path file, String name, JsonNode value) {
        List<Integer> shape = new ArrayList<>();
        for (JsonNode at = value; at.isArray(); at = at.path(0)) {
            shape.add(at.size());
        }
        List<Double> numbers = new ArrayList<>();
        boolean even = flatten(value, shape, 0, numbers);
        if (!even) {
            throw new TorchAneException(file + ": '" + name + "' must be numbers in lists of equal length");
        }
        Tensor tensor = Tensor.allocate(new TensorType(DType.FP32, shape));
        for (int i = 0; i < numbers.size(); i++) {
            tensor.set(i, numbers.get(i).floatValue());
        }
        return tensor;
    }

    private static boolean flatten(JsonNode value, List<Integer> shape, int depth, List<Double> numbers) {
        if (depth == shape.size()) {
            numbers.add(value.isBoolean() ? (value.asBoolean() ? 1.0 : 0.0) : value.asDouble());
            return value.isNumber() || value.isBoolean();
        }
        boolean even = value.isArray() && value.size() == shape.get(depth);
        for (JsonNode each : value) {
            even = even && flatten(each, shape, depth + 1, numbers);
        }
        return even;
    }

    /**
     * A tensor for each input of a function: as given, its elements converted where their type is another; otherwise normal
     * random numbers, truth values, and zeros for integers.
     *
     * @throws TorchAneException when a given tensor has another shape, or no function has an input of its name
     */
    Map<String, Tensor> inputs(Function function, long seed) {
        Random random = new Random(seed);
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        for (Value input : function.tensors()) {
            Tensor given = tensors.get(input.name());
            inputs.put(input.name(), given == null ? random(input.type(), random) : converted(input, given));
        }
        return inputs;
    }

    /** Refuses what is given for none of the functions. */
    void requireUsed(List<Function> functions) {
        for (String name : tensors.keySet()) {
            if (functions.stream()
                    .flatMap(each -> each.tensors().stream())
                    .noneMatch(each -> each.name().equals(name))) {
                throw new TorchAneException("no function has an input '" + name + "'; there is "
                        + functions.stream()
                                .flatMap(each -> each.tensors().stream())
                                .toList());
            }
        }
    }

    private static Tensor converted(Value input, Tensor given) {
        if (!given.type().shape().equals(input.type().shape())) {
            throw new TorchAneException("input " + input + " was given a tensor of shape "
                    + given.type().shape());
        }
        if (given.type().equals(input.type())) {
            return given;
        }
        Tensor tensor = Tensor.allocate(input.type());
        for (long i = 0; i < given.type().elements(); i++) {
            tensor.set(i, given.get(i));
        }
        return tensor;
    }

    private static Tensor random(TensorType type, Random random) {
        Tensor tensor = Tensor.allocate(type);
        if (type.dtype().isFloat() || type.dtype() == DType.BOOL) {
            for (long i = 0; i < type.elements(); i++) {
                tensor.set(i, type.dtype() == DType.BOOL ? random.nextInt(2) : (float) random.nextGaussian());
            }
        }
        return tensor;
    }
}
