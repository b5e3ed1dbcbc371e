package dev.torchane.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.ChunkLimits;
import dev.torchane.build.LadderPlan;
import dev.torchane.build.Target;
import dev.torchane.cache.CacheRoot;
import dev.torchane.cache.SourceDigest;
import dev.torchane.engine.chunks.ChunkIndex;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.Manifest;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.weights.Checkpoint;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.graalvm.polyglot.Value;

/**
 * One build of a language model in chunks. Python traces and lowers a template, once for each run of layers of equal kinds; from then
 * on everything is Java's: the checkpoint's tensors are encoded one after another into the programs that they belong to.
 */
final class ChunkedExport {

    private static final System.Logger LOG = System.getLogger("dev.torchane.build");

    private final Checkpoint checkpoint;
    private final BuildOptions options;
    private final ChunkLimits limits;
    private final LadderPlan plan;
    private final Stages stages;

    /**
     * @throws IllegalArgumentException when the options do not fit the model, or are for another target than the CPU
     */
    ChunkedExport(Checkpoint checkpoint, BuildOptions options, ChunkLimits limits, Stages stages) {
        if (options.target() != Target.CPU) {
            throw new IllegalArgumentException("models in chunks are built for the target cpu, found "
                    + options.target().id() + ": its passes rewrite weights that a build in chunks never has whole");
        }
        this.checkpoint = checkpoint;
        this.options = options;
        this.limits = limits;
        this.stages = stages;
        this.plan = CausalLmExport.plan(checkpoint, options);
    }

    /** What Python made: no weight of the checkpoint is in it. */
    private record Lowered(
            ObjectNode description,
            ObjectNode versions,
            ChunkTemplate.Weights weights,
            List<ChunkPlanner.Span> layers,
            List<ChunkPlanner.Span> head,
            Map<List<Integer>, ChunkTemplate> templates,
            ChunkTemplate headTemplate) {

        List<Integer> kinds(ChunkPlanner.Span span) {
            List<Integer> kinds = new ArrayList<>();
            for (int layer = 0; layer < span.count(); layer++) {
                kinds.add(
                        description.required("kinds").get(span.first() + layer).asInt());
            }
            return kinds;
        }
    }

    /**
     * Builds the model.
     *
     * @param whole where chunks that are whole wait for the others
     */
    void write(PythonHost host, Path directory, Path whole) {
        String digest = new SourceDigest(CacheRoot.locate()).of(checkpoint.files());
        Lowered lowered = host.call(python -> {
            try {
                return lower(python.module(ExporterModule.NAME, ExporterModule.class), digest);
            } finally {
                python.collect();
            }
        });
        Map<String, Integer> rowAxes = new LinkedHashMap<>();
        lowered.description()
                .required("rowAxes")
                .properties()
                .forEach(axis -> rowAxes.put(axis.getKey(), axis.getValue().asInt()));
        ChunkWriter writer = new ChunkWriter(checkpoint, options, digest, rowAxes, stages);
        stages.stage("write chunks", elements(lowered), "weights");
        long begin = System.nanoTime();
        List<ChunkIndex.Part> chunks = new ArrayList<>();
        String layers = lowered.description().required("layers").asText() + ".";
        Map<List<Integer>, Integer> firsts = new HashMap<>();
        for (ChunkPlanner.Span span : lowered.layers()) {
            List<Integer> kinds = lowered.kinds(span);
            int shift = span.first() - firsts.computeIfAbsent(kinds, _ -> span.first());
            String path = "chunks/%02d".formatted(chunks.size());
            chunks.add(writer.write(
                    whole.resolve(path),
                    path,
                    span,
                    lowered.templates().get(kinds),
                    name -> moved(name, layers, shift)));
        }
        List<ChunkIndex.Part> heads = new ArrayList<>();
        for (ChunkPlanner.Span span : lowered.head()) {
            String path = "head/%02d".formatted(heads.size());
            heads.add(writer.write(whole.resolve(path), path, span, lowered.headTemplate(), name -> name));
        }
        stages.add("chunks", (System.nanoTime() - begin) / 1e9);
        writeModel(writer, lowered, digest, directory, new ChunkIndex(limits, chunks, heads));
        move(whole, directory);
    }

    private long elements(Lowered lowered) {
        long sum = 0;
        for (ChunkTemplate.Described weight : lowered.weights().all()) {
            sum += checkpoint.tensor(weight.source()).elements();
        }
        return sum;
    }

    /** The weight of the layer {@code shift} further on. */
    static String moved(String name, String layers, int shift) {
        if (shift == 0 || !name.startsWith(layers)) {
            return name;
        }
        int end = name.indexOf('.', layers.length());
        int layer = Integer.parseInt(name.substring(layers.length(), end)) + shift;
        return layers + layer + name.substring(end);
    }

    private Lowered lower(ExporterModule module, String digest) {
        ObjectNode versions = CausalLmExport.object(module.versions());
        Value export = stages.timed(
                "trace",
                "trace a layer of each kind",
                () -> module.begin_chunks(config(), CausalLmExport.optionsJson(options, plan, new int[0]), stages));
        ObjectNode description = CausalLmExport.object(module.describe_chunks(export));
        ChunkTemplate.Weights weights = new ChunkTemplate.Weights(description.required("weights"), options.precision());
        requireTensors(weights);
        ChunkWriter writer = new ChunkWriter(checkpoint, options, digest, Map.of(), stages);
        JsonNode kinds = description.required("kinds");
        long[] bytes =
                layerBytes(writer, weights, description.required("layers").asText() + ".", kinds.size());
        ChunkTemplate.Described head = weights.get(description.required("head").asText());
        ChunkPlanner planner = new ChunkPlanner(limits);
        Map<Integer, Integer> operations = new HashMap<>();
        List<ChunkPlanner.Span> spans = planner.layers(
                bytes,
                layer -> limits.operations() == Integer.MAX_VALUE
                        ? 0
                        : operations.computeIfAbsent(
                                kinds.get(layer).asInt(),
                                _ -> template(weights, sink -> module.send_layers(export, sink, layer, 1))
                                        .operations()));
        int rows = Math.toIntExact(checkpoint.tensor(head.source()).rows());
        List<ChunkPlanner.Span> headSpans = planner.head(rows, writer.bytes(head));
        LOG.log(Level.INFO, chosen(bytes, spans, writer.bytes(head), headSpans));
        Lowered lowered = new Lowered(
                description,
                versions,
                weights,
                spans,
                headSpans,
                new HashMap<>(),
                stages.timed(
                        "lower", "lower the head", () -> template(weights, sink -> module.send_head(export, sink))));
        for (ChunkPlanner.Span span : spans) {
            lowered.templates()
                    .computeIfAbsent(
                            lowered.kinds(span),
                            _ -> stages.timed(
                                    "lower",
                                    "lower " + span.count() + " layers",
                                    () -> template(
                                            weights,
                                            sink -> module.send_layers(export, sink, span.first(), span.count()))));
        }
        return lowered;
    }

    /** Bytes of each layer's weights as they will be stored. */
    private static long[] layerBytes(ChunkWriter writer, ChunkTemplate.Weights weights, String prefix, int layers) {
        long[] bytes = new long[layers];
        for (ChunkTemplate.Described weight : weights.all()) {
            if (weight.name().startsWith(prefix)) {
                String rest = weight.name().substring(prefix.length());
                bytes[Integer.parseInt(rest.substring(0, rest.indexOf('.')))] += writer.bytes(weight);
            }
        }
        return bytes;
    }

    private static String chosen(
            long[] bytes, List<ChunkPlanner.Span> chunks, long headBytes, List<ChunkPlanner.Span> heads) {
        long largest = chunks.stream()
                .mapToLong(span -> Arrays.stream(bytes, span.first(), span.first() + span.count())
                        .sum())
                .max()
                .orElse(0);
        return "%d layers become %d programs of up to %d layers and %d MB, the head %d of %d MB"
                .formatted(
                        bytes.length,
                        chunks.size(),
                        chunks.stream().mapToInt(ChunkPlanner.Span::count).max().orElse(0),
                        largest >> 20,
                        heads.size(),
                        headBytes / heads.size() >> 20);
    }

    private static ChunkTemplate template(ChunkTemplate.Weights weights, Consumer<ProgramSink> lowering) {
        ProgramBuilder program = ProgramBuilder.create();
        lowering.accept(new MilProgramSink(program, weights));
        return new ChunkTemplate(program.build(), weights);
    }

    /** The configuration, tied as the checkpoint is. */
    private String config() {
        ObjectNode config = CausalLmExport.object(checkpoint.configJson());
        boolean tied = checkpoint.hasTiedHead();
        config.put("tie_word_embeddings", tied);
        if (config.path("text_config") instanceof ObjectNode text) {
            text.put("tie_word_embeddings", tied);
        }
        return config.toString();
    }

    private void requireTensors(ChunkTemplate.Weights weights) {
        List<String> known = new ArrayList<>();
        for (ChunkTemplate.Described weight : weights.all()) {
            checkpoint.tensor(weight.source());
            known.add(weight.source());
        }
        List<String> unexpected = checkpoint.tensors().keySet().stream()
                .filter(name -> !known.contains(name) && !name.endsWith(".rotary_emb.inv_freq"))
                .filter(name -> !(checkpoint.hasTiedHead() && name.endsWith("lm_head.weight")))
                .toList();
        if (!unexpected.isEmpty()) {
            throw new TorchAneException("the checkpoint " + checkpoint.path()
                    + " has tensors that the model has no place for: "
                    + unexpected.subList(0, Math.min(5, unexpected.size())));
        }
    }

    private void writeModel(ChunkWriter writer, Lowered lowered, String digest, Path directory, ChunkIndex index) {
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            BundleFiles.write(checkpoint, bundle, directory);
            WeightStore weights = writer.store(bundle);
            ObjectNode description = lowered.description();
            ObjectNode embedding = (ObjectNode) description.required("embedding");
            writer.put(
                    weights, lowered.weights().get(embedding.required("weight").asText()), Optional.empty());
            ((ObjectNode) description.required("model"))
                    .put(
                            "vocab",
                            index.heads().stream()
                                    .mapToInt(ChunkIndex.Part::count)
                                    .sum());
            bundle.program(new Program("1.3", Map.of(), List.of()));
            bundle.file(ChunkIndex.FILE, index.text().getBytes(StandardCharsets.UTF_8));
            Map<String, String> versions = new LinkedHashMap<>(Versions.all());
            lowered.versions()
                    .properties()
                    .forEach(each -> versions.put(each.getKey(), each.getValue().asText()));
            JsonNode report = description.path("report");
            bundle.manifest(writer.manifest(Manifest.CAUSAL_LM, weights)
                    .versions(versions)
                    .model(description, plan)
                    .embedding(embedding, weights)
                    .build(stages.seconds(), report)
                    .text());
            bundle.finish();
        }
    }

    /** What installing the chunks left beside them. */
    private static void deleteLocks(Path part) throws IOException {
        try (var files = Files.newDirectoryStream(part, ".*.lock")) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    private static void move(Path whole, Path directory) {
        try {
            for (String part : List.of("chunks", "head")) {
                deleteLocks(whole.resolve(part));
                Files.move(whole.resolve(part), directory.resolve(part), StandardCopyOption.ATOMIC_MOVE);
            }
            try (var rest = Files.list(whole)) {
                for (Path each : rest.toList()) {
                    Files.delete(each);
                }
            }
            Files.delete(whole);
        } catch (IOException e) {
            throw new TorchAneException("cannot move the chunks from " + whole + " to " + directory + ": " + e, e);
        }
    }
}
