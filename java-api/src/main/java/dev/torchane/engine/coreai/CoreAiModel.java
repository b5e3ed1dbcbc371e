package dev.torchane.engine.coreai;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes programs as {@code .aimodel}, what Core AI loads. */
public final class CoreAiModel {

    /** How the folder of a model ends. */
    public static final String SUFFIX = ".aimodel";

    private static final ObjectMapper JSON = new ObjectMapper();

    private CoreAiModel() {}

    /**
     * Writes a bundle's program, all functions over the same weights.
     *
     * @param target a folder that is made; its name ends in {@value #SUFFIX}
     * @throws TorchAneException when an operation has no form in Core AI, the target exists, or there is no environment
     */
    public static void write(Bundle bundle, Path target, CoreAiOptions options) {
        if (!target.getFileName().toString().endsWith(SUFFIX) || Files.exists(target)) {
            throw new TorchAneException(target + " must not exist, and its name must end in " + SUFFIX);
        }
        HelperLink link = HelperLink.acquire(
                CoreAiEnvironment.python().orElseThrow(() -> new TorchAneException(CoreAiEnvironment.advice())));
        try {
            write(link, bundle, target, options);
        } finally {
            link.release();
        }
    }

    /** The text of some functions. */
    static String text(List<Function> functions, WeightItems items, CoreAiOptions options) {
        StringBuilder text = new StringBuilder("module {\n");
        functions.forEach(function -> text.append(FunctionText.of(function, items, options)));
        return text.append("}\n").toString();
    }

    static void write(HelperLink link, Bundle bundle, Path target, CoreAiOptions options) {
        List<String> names = options.functions().isEmpty() ? bundle.functionNames() : options.functions();
        List<Function> functions = names.stream().map(bundle::function).toList();
        long number = link.number();
        Path text = link.file("program-" + number + ".mlir");
        Path made = link.file("weights-" + number + ".bin");
        try {
            List<WeightItems.Item> items;
            try (WeightItems weights = new WeightItems(bundle, made)) {
                Files.writeString(text, text(functions, weights, options));
                items = weights.items();
            }
            link.generation();
            link.call(request(functions, text, items, target, options));
        } catch (IOException e) {
            throw new TorchAneException("cannot write " + text + ": " + e, e);
        } finally {
            for (Path file : List.of(text, made)) {
                file.toFile().delete();
            }
        }
    }

    private static String request(
            List<Function> functions, Path text, List<WeightItems.Item> items, Path target, CoreAiOptions options)
            throws JsonProcessingException {
        ObjectNode request = JSON.createObjectNode();
        request.put("op", "assemble");
        request.put("text", text.toString());
        request.put("out", target.toAbsolutePath().toString());
        ArrayNode list = request.putArray("items");
        for (WeightItems.Item item : items) {
            ObjectNode node = list.addObject();
            node.put("file", item.file().toAbsolutePath().toString());
            node.put("offset", item.offset());
            node.put("element", IrTypes.element(item.type().dtype()));
            node.put("bytes", item.type().bytes());
            ArrayNode shape = node.putArray("shape");
            item.type().shape().forEach(shape::add);
        }
        ObjectNode surfaces = request.putObject("surfaces");
        if (options.surfaces()) {
            for (Function function : functions) {
                if (!function.states().isEmpty()) {
                    ObjectNode ranks = surfaces.putObject(function.name());
                    function.states()
                            .forEach(state ->
                                    ranks.put(state.name(), state.type().rank()));
                }
            }
        }
        return JSON.writeValueAsString(request);
    }
}
