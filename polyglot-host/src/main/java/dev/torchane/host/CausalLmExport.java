package dev.torchane.host;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.LadderPlan;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.weights.Checkpoint;
import java.util.Arrays;
import org.graalvm.polyglot.Value;

/** One export of a language model: from an open checkpoint to a program and what Python says about it. */
final class CausalLmExport {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Checkpoint checkpoint;
    private final BuildOptions options;
    private final LadderPlan plan;
    private final Stages stages;

    /**
     * @throws IllegalArgumentException when the options do not fit the model
     */
    CausalLmExport(Checkpoint checkpoint, BuildOptions options, Stages stages) {
        this.checkpoint = checkpoint;
        this.options = options;
        this.stages = stages;
        plan = plan(checkpoint, options);
    }

    /**
     * The windows and rungs that options mean for a model.
     *
     * @throws IllegalArgumentException when they do not fit it
     */
    static LadderPlan plan(Checkpoint checkpoint, BuildOptions options) {
        return LadderPlan.of(options, contextLimit(checkpoint));
    }

    /**
     * The result.
     *
     * @param program all functions
     * @param description what Python answers: {@code model}, {@code rope}, {@code embedding}, {@code rowAxes}, {@code report}
     * @param versions of the Python side
     */
    record Exported(Program program, ObjectNode description, ObjectNode versions) {}

    /** The windows and rungs that are built. */
    LadderPlan plan() {
        return plan;
    }

    /**
     * Runs the Python side; every weight has reached {@code weights} when it returns.
     *
     * @param calibration ids of a text; none where there is nothing to calibrate, or no tokenizer
     */
    Exported run(PythonHost host, WeightStore weights, int[] calibration) {
        return host.call(python -> {
            ExporterModule module = stages.timed(
                    "imports",
                    "import torch and transformers",
                    () -> python.module(ExporterModule.NAME, ExporterModule.class));
            ObjectNode versions = object(module.versions());
            try (CheckpointTensors tensors = new CheckpointTensors(checkpoint)) {
                Value model = stages.timed(
                        "load", "load the model", () -> module.load_causal_lm(checkpoint.configJson(), tensors));
                ProgramBuilder program = ProgramBuilder.create();
                String answer = module.export_causal_lm(
                        model,
                        optionsJson(options, plan, calibration),
                        new MilProgramSink(program, weights),
                        weights,
                        stages);
                ObjectNode description = object(answer);
                note(description.path("report").path("stages"), weights);
                return new Exported(program.build(), description, versions);
            } finally {
                python.collect();
            }
        });
    }

    private void note(JsonNode pythonStages, WeightStore weights) {
        // "lower prefill_512" and its kind are one stage here
        pythonStages
                .properties()
                .forEach(stage -> stages.add(
                        stage.getKey().split(" ")[0], stage.getValue().asDouble()));
        if (!pythonStages.has("weights")) {
            stages.add("weights", weights.seconds());
        }
    }

    /** What Python is told of the options. */
    static String optionsJson(BuildOptions options, LadderPlan plan, int[] calibration) {
        ObjectNode node = JSON.createObjectNode();
        node.put("target", options.target().id());
        node.put("precision", options.precision().mil());
        node.put("maxLen", plan.rungs().getLast());
        node.put("prefillWindow", plan.prefillWindow());
        node.put("batch", options.batch());
        plan.rungs().forEach(node.putArray("ladder")::add);
        Arrays.stream(calibration).forEach(node.putArray("calibration")::add);
        return node.toString();
    }

    private static int contextLimit(Checkpoint checkpoint) {
        JsonNode config = object(checkpoint.configJson());
        JsonNode text = config.has("text_config") ? config.get("text_config") : config;
        JsonNode limit = text.path("max_position_embeddings");
        if (!limit.canConvertToInt() || limit.intValue() < BuildOptions.DECODE_WINDOW) {
            throw new TorchAneException("the configuration of " + checkpoint.path()
                    + " needs max_position_embeddings, the largest context in tokens, of at least "
                    + BuildOptions.DECODE_WINDOW + "; found " + limit);
        }
        return limit.intValue();
    }

    static ObjectNode object(String json) {
        try {
            if (JSON.readTree(json) instanceof ObjectNode object) {
                return object;
            }
            throw new TorchAneException("expected a JSON object, found " + json);
        } catch (JsonProcessingException e) {
            throw new TorchAneException("expected JSON, found " + json, e);
        }
    }
}
