package dev.torchane.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.LadderPlan;
import dev.torchane.build.Target;
import dev.torchane.program.Manifest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/** Puts together a bundle's {@code manifest.json}, as docs/architecture.md describes it. */
final class ManifestText {

    private static final int FORMAT = 1;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ObjectNode manifest;

    private ManifestText(ObjectNode manifest) {
        this.manifest = manifest;
    }

    ManifestText(BuildOptions options) {
        this(Manifest.CAUSAL_LM, options.target(), options.asText());
    }

    ManifestText(String kind, Target target, Map<String, String> options) {
        this(JSON.createObjectNode());
        manifest.put("format", FORMAT);
        manifest.put("kind", kind);
        manifest.put("target", target.id());
        ObjectNode given = manifest.putObject("options");
        options.forEach(given::put);
    }

    /** The text of a manifest that is there, to be changed. */
    static ManifestText copyOf(Path file) {
        try {
            return new ManifestText((ObjectNode) JSON.readTree(file.toFile()));
        } catch (IOException e) {
            throw new TorchAneException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    ManifestText option(String name, String value) {
        ((ObjectNode) manifest.required("options")).put(name, value);
        return this;
    }

    ManifestText source(String name, String digest) {
        manifest.putObject("source").put("name", name).put("digest", digest);
        return this;
    }

    ManifestText versions(Map<String, String> versions) {
        ObjectNode node = manifest.putObject("versions");
        versions.forEach(node::put);
        return this;
    }

    /** Shape of the model, its position embedding, its inputs' row axes, from what Python answered. */
    ManifestText model(ObjectNode description, LadderPlan plan) {
        ObjectNode model = manifest.putObject("model");
        model.setAll((ObjectNode) description.required("model"));
        model.put("maxLen", plan.maxLen());
        model.put("prefillWindow", plan.prefillWindow());
        model.put("decodeWindow", BuildOptions.DECODE_WINDOW);
        ArrayNode ladder = model.putArray("ladder");
        plan.rungs().forEach(ladder::add);
        manifest.set("rope", description.required("rope"));
        manifest.set("rowAxes", description.required("rowAxes"));
        return this;
    }

    /** The row axes of these inputs. */
    ManifestText rowAxes(Map<String, Integer> axes, Set<String> inputs) {
        ObjectNode node = manifest.putObject("rowAxes");
        axes.forEach((name, axis) -> {
            if (inputs.contains(name)) {
                node.put(name, axis);
            }
        });
        return this;
    }

    /** Says that no input has rows that could be computed alone. */
    ManifestText noRowAxes() {
        manifest.putObject("rowAxes");
        return this;
    }

    /** The embedding table's place in the weight file. */
    ManifestText embedding(JsonNode described, WeightStore weights) {
        WeightStore.Stored table = weights.get(described.required("weight").asText());
        ObjectNode node = manifest.putObject("embedding");
        node.put("rows", table.type().axis(0));
        node.put("columns", table.type().axis(1));
        node.put("encoding", table.form());
        node.put("data", table.data().offset());
        if (table.table().isPresent()) {
            node.put("scale", table.table().get().offset());
        } else {
            node.putNull("scale");
        }
        node.put("multiplier", described.path("multiplier").asDouble(1.0));
        return this;
    }

    ManifestText weights(WeightStore weights) {
        ArrayNode list = manifest.putArray("weights");
        for (WeightStore.Stored weight : weights.all()) {
            ObjectNode node = list.addObject();
            node.put("name", weight.name());
            ArrayNode shape = node.putArray("shape");
            weight.type().shape().forEach(shape::add);
            node.put("encoding", weight.form());
            node.put("bytes", weight.bytes());
            if (weight.group() > 0) {
                node.put("group", weight.group());
            }
            node.put("maxError", weight.error().largest());
            node.put("rmsError", weight.error().rms(weight.type().elements()));
            if (!weight.note().isEmpty()) {
                node.put("note", weight.note());
            }
        }
        return this;
    }

    /** Seconds by stage, and what Python reports about the export. */
    ManifestText build(Map<String, Double> stages, JsonNode report) {
        ObjectNode build = manifest.putObject("build");
        ObjectNode seconds = build.putObject("seconds");
        stages.forEach((stage, value) -> seconds.put(stage, Math.round(value * 100) / 100.0));
        if (report.has("maxDifference")) {
            build.set("maxDifference", report.get("maxDifference"));
        }
        if (report.path("scales").isObject()) {
            build.set("scales", report.get("scales"));
        }
        return this;
    }

    /** The text. */
    String text() {
        return manifest.toPrettyString() + "\n";
    }
}
