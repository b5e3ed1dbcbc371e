package dev.torchane.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleOptions;
import dev.torchane.build.ModuleSource;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What Java and Python tell each other about modules, as JSON. */
final class ModuleText {

    private static final ObjectMapper JSON = new ObjectMapper();

    private ModuleText() {}

    /** Where a module comes from. */
    static String source(ModuleSource source) {
        ObjectNode node = JSON.createObjectNode();
        switch (source) {
            case ModuleSource.Factory factory -> {
                node.put("kind", "factory")
                        .put("folder", absolute(factory.folder()))
                        .put("callable", factory.callable())
                        .put("method", factory.method());
                node.set("arguments", JSON.valueToTree(factory.arguments()));
                factory.weights().ifPresent(file -> node.put("weights", absolute(file)));
            }
            case ModuleSource.ExportedProgram program ->
                node.put("kind", "exported").put("file", absolute(program.file()));
            case ModuleSource.Pretrained pretrained -> {
                node.put("kind", "pretrained")
                        .put("library", pretrained.library())
                        .put("class", pretrained.className())
                        .put("directory", absolute(pretrained.directory()))
                        .put("method", pretrained.method());
                node.set("arguments", JSON.valueToTree(pretrained.arguments()));
            }
        }
        return node.toString();
    }

    private static String absolute(Path path) {
        return path.toAbsolutePath().toString();
    }

    /** What to build. */
    static String options(ModuleOptions options, List<ModuleInputs> functions) {
        ObjectNode node = JSON.createObjectNode();
        node.put("target", options.target().id());
        node.put("precision", options.precision().mil());
        ArrayNode list = node.putArray("functions");
        functions.forEach(each -> list.add(types(each.types())));
        return node.toString();
    }

    private static ArrayNode types(Map<String, TensorType> types) {
        ArrayNode list = JSON.createArrayNode();
        types.forEach((name, type) -> type(list.addObject(), name, type));
        return list;
    }

    private static void type(ObjectNode node, String name, TensorType type) {
        node.put("name", name).put("dtype", type.dtype().mil());
        type.shape().forEach(node.putArray("shape")::add);
    }

    /** The same tensors; copies of those that lie in arrays of Java. */
    static Map<String, Tensor> inNativeMemory(Map<String, Tensor> tensors) {
        Map<String, Tensor> found = new LinkedHashMap<>();
        tensors.forEach((name, tensor) -> {
            Tensor copy = tensor.data().isNative() ? tensor : Tensor.allocate(tensor.type());
            if (copy != tensor) {
                copy.data().copyFrom(tensor.data().asSlice(0, tensor.type().bytes()));
            }
            found.put(name, copy);
        });
        return found;
    }

    /** Tensors in native memory by name; they must stay where they are until Python has read them. */
    static String tensors(Map<String, Tensor> tensors) {
        ArrayNode list = JSON.createArrayNode();
        tensors.forEach((name, tensor) -> {
            ObjectNode node = list.addObject();
            type(node, name, tensor.type());
            node.put("address", tensor.data().address());
        });
        return list.toString();
    }

    /** Copies of the tensors that Python computed. */
    static Map<String, Tensor> copied(PythonResults results) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        try {
            int index = 0;
            for (JsonNode each : JSON.readTree(results.describe())) {
                List<Integer> shape = new ArrayList<>();
                each.required("shape").forEach(size -> shape.add(size.intValue()));
                TensorType type =
                        new TensorType(DType.ofMil(each.required("dtype").asText()), shape);
                Tensor tensor = Tensor.allocate(type);
                tensor.data().copyFrom(NativeMemory.at(results.address(index++), type.bytes()));
                tensors.put(each.required("name").asText(), tensor);
            }
        } catch (IOException e) {
            throw new TorchAneException("Python described its results in no JSON: " + e.getMessage(), e);
        }
        return tensors;
    }
}
