package dev.torchane.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleOptions;
import dev.torchane.build.ModuleSource;
import dev.torchane.engine.Tensor;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.Manifest;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.graalvm.polyglot.Value;

/** Modules of any kind: into a bundle, or run in torch. */
final class ModuleExport {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ModuleSource source;
    private final Stages stages;

    /** A program, and what Python reports about its export. */
    private record Built(Program program, JsonNode report) {}

    ModuleExport(ModuleSource source, Stages stages) {
        this.source = source;
        this.stages = stages;
    }

    /** Writes a bundle into an empty directory. */
    void write(PythonHost host, List<ModuleInputs> functions, ModuleOptions options, String digest, Path directory) {
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            WeightStore weights = new WeightStore(
                    (type, data) -> BundleWriter.blob(type, bundle.weights().append(type, data)),
                    BuildOptions.defaults()
                            .withTarget(options.target())
                            .withPrecision(options.precision())
                            .withWeights(options.weights()),
                    StoredBlocks.NONE);
            Map<String, String> versions = new LinkedHashMap<>(Versions.all());
            Built built = host.call(python -> {
                ExporterModule module = module(python);
                versions.putAll(texts(module.versions()));
                try {
                    Value loaded = load(module);
                    ProgramBuilder builder = ProgramBuilder.create();
                    JsonNode report = tree(module.export_module(
                            loaded,
                            ModuleText.options(options, functions),
                            new MilProgramSink(builder, weights),
                            weights,
                            stages));
                    report.path("stages")
                            .properties()
                            .forEach(stage ->
                                    stages.add(stage.getKey(), stage.getValue().asDouble()));
                    return new Built(builder.build(), report);
                } finally {
                    python.collect();
                }
            });
            stages.timed("write", "write the bundle", () -> {
                bundle.program(built.program());
                return null;
            });
            AneReport.log(built.program(), options.target());
            Map<String, String> text = new LinkedHashMap<>(options.asText());
            text.putAll(source.asText());
            bundle.manifest(new ManifestText(Manifest.MODULE, options.target(), text)
                    .source(source.title(), digest)
                    .versions(versions)
                    .noRowAxes()
                    .weights(weights)
                    .build(stages.seconds(), built.report())
                    .text());
            bundle.finish();
        }
    }

    /** Runs the module in torch. */
    Map<String, Tensor> run(PythonHost host, Map<String, Tensor> inputs) {
        return host.call(python -> {
            ExporterModule module = module(python);
            Map<String, Tensor> given = ModuleText.inNativeMemory(inputs);
            try {
                return ModuleText.copied(module.run_module(load(module), ModuleText.tensors(given)));
            } finally {
                Reference.reachabilityFence(given);
                python.collect();
            }
        });
    }

    private ExporterModule module(PythonContext python) {
        return stages.timed("imports", "import torch", () -> python.module(ExporterModule.NAME, ExporterModule.class));
    }

    private Value load(ExporterModule module) {
        return stages.timed("load", "load the module", () -> module.load_module(ModuleText.source(source)));
    }

    private static Map<String, String> texts(String json) {
        Map<String, String> texts = new LinkedHashMap<>();
        tree(json)
                .properties()
                .forEach(each -> texts.put(each.getKey(), each.getValue().asText()));
        return texts;
    }

    private static JsonNode tree(String json) {
        try {
            return JSON.readTree(json);
        } catch (IOException e) {
            throw new TorchAneException("expected JSON, found " + json, e);
        }
    }
}
