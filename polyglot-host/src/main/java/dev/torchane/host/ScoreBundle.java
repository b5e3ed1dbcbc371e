package dev.torchane.host;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.WeightEncoding;
import dev.torchane.llm.EveryRow;
import dev.torchane.program.Bundle;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Manifest;
import dev.torchane.program.Operation;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes bundles that score text out of one with fp32 weights: the same program with its weights encoded anew, and logits for
 * every row. No Python runs.
 */
public final class ScoreBundle {

    /** The only function. */
    public static final String FUNCTION = "score";

    private final Bundle source;
    private final Manifest.Embedding table;
    private final WeightStore weights;
    private final Map<Long, String> names = new HashMap<>();

    private ScoreBundle(Bundle source, WeightStore weights) {
        this.source = source;
        this.table = source.manifest().embedding();
        this.weights = weights;
    }

    /**
     * Writes such a bundle.
     *
     * @param source with fp32 weights in an fp32 program
     * @param directory empty
     * @throws TorchAneException when {@code source} has other weights
     */
    public static void write(Bundle source, WeightEncoding encoding, Path directory) {
        Map<String, String> options = source.manifest().options();
        if (!"fp32".equals(options.get("weights")) || !"fp32".equals(options.get("precision"))) {
            throw new TorchAneException("the bundle " + source.directory() + " has " + options.get("weights")
                    + " weights in an " + options.get("precision")
                    + " program: encodings are compared on one that was built with weights fp32 and precision fp32");
        }
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            WeightStore weights = new WeightStore(
                    (type, data) -> BundleWriter.blob(type, bundle.weights().append(type, data)),
                    BuildOptions.defaults().withWeights(encoding),
                    StoredBlocks.NONE);
            ScoreBundle made = new ScoreBundle(source, weights);
            ProgramBuilder program = ProgramBuilder.create();
            made.embedding();
            made.function(program);
            bundle.program(program.build());
            ObjectNode described = new ObjectMapper().createObjectNode();
            described.put("weight", made.names.get(made.table.data())).put("multiplier", made.table.multiplier());
            bundle.manifest(ManifestText.copyOf(source.directory().resolve(Bundle.MANIFEST))
                    .option("weights", encoding.id())
                    .embedding(described, weights)
                    .weights(weights)
                    .text());
            bundle.finish();
        }
    }

    private void embedding() {
        TensorType type = TensorType.of(DType.ofMil(table.encoding()), table.rows(), table.columns());
        names.put(table.data(), "embedding");
        weights.put("embedding", source.weights().data(table.data(), type), type, "embedding");
    }

    private void function(ProgramBuilder program) {
        Function function = EveryRow.of(
                source.function("prefill_" + source.manifest().model().ladder().getLast()), FUNCTION);
        Map<String, String> roles = roles(function);
        FunctionBuilder to = program.function(FUNCTION, function.opset());
        FunctionCopy.of(
                function,
                to,
                (operation, copy) -> operation
                        .constant()
                        .filter(literal -> literal instanceof Literal.Blob)
                        .map(literal -> List.of(weight(operation.output().name(), (Literal.Blob) literal, roles, to))));
    }

    private Value weight(String name, Literal.Blob blob, Map<String, String> roles, FunctionBuilder to) {
        String stored = names.get(blob.offset());
        if (stored == null) {
            stored = name;
            names.put(blob.offset(), name);
            weights.put(name, source.data(blob), blob.type(), roles.getOrDefault(name, "other"));
        }
        return weights.emit(stored, to);
    }

    /** What the constants are for: the last linear layer is the head. */
    private static Map<String, String> roles(Function function) {
        Map<String, String> roles = new HashMap<>();
        String last = "";
        for (Operation operation : function.operations()) {
            if (operation.kind().equals("linear") || operation.kind().equals("conv")) {
                last = operation.input("weight").orElseThrow().name();
                roles.put(last, "linear");
            }
        }
        roles.put(last, "head");
        return roles;
    }
}
