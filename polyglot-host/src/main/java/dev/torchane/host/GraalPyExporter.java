package dev.torchane.host;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.ChunkLimits;
import dev.torchane.build.Exporter;
import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleOptions;
import dev.torchane.build.ModuleSource;
import dev.torchane.build.Progress;
import dev.torchane.cache.CacheRoot;
import dev.torchane.cache.SourceDigest;
import dev.torchane.engine.Tensor;
import dev.torchane.program.BundleWriter;
import dev.torchane.text.TokenizerFiles;
import dev.torchane.weights.Checkpoint;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Builds bundles with torch and transformers inside GraalPy, in this process. */
public final class GraalPyExporter implements Exporter {

    /** For {@link java.util.ServiceLoader}. */
    public GraalPyExporter() {}

    @Override
    public String version() {
        return Versions.all().entrySet().stream()
                .map(each -> each.getKey() + " " + each.getValue())
                .collect(Collectors.joining(", "));
    }

    @Override
    public void exportCausalLM(Path checkpoint, BuildOptions options, Path directory, Progress progress) {
        WeightStore.requireStorable(options);
        Stages stages = new Stages(progress);
        try (Checkpoint source = Checkpoint.open(checkpoint, Checkpoint.Access.COPY_ON_WRITE)) {
            source.hasTiedHead();
            TokenizerFiles.check(source);
            CausalLmExport export = new CausalLmExport(source, options, stages);
            write(source, options, export, host(progress, stages), directory, stages);
        }
    }

    @Override
    public void exportChunks(
            Path checkpoint, BuildOptions options, ChunkLimits limits, Path directory, Path whole, Progress progress) {
        WeightStore.requireStorable(options);
        Stages stages = new Stages(progress);
        try (Checkpoint source = Checkpoint.open(checkpoint)) {
            source.hasTiedHead();
            TokenizerFiles.check(source);
            ChunkedExport export = new ChunkedExport(source, options, limits, stages);
            export.write(host(progress, stages), directory, whole);
        }
    }

    @Override
    public void exportModule(
            ModuleSource source,
            List<ModuleInputs> functions,
            ModuleOptions options,
            Path directory,
            Progress progress) {
        Stages stages = new Stages(progress);
        String digest = new SourceDigest(CacheRoot.locate()).of(source.files());
        new ModuleExport(source, stages).write(host(progress, stages), functions, options, digest, directory);
    }

    @Override
    public Map<String, Tensor> runModule(ModuleSource source, Map<String, Tensor> inputs, Progress progress) {
        Stages stages = new Stages(progress);
        return new ModuleExport(source, stages).run(host(progress, stages), inputs);
    }

    private static PythonHost host(Progress progress, Stages stages) {
        PythonSettings settings = PythonSettings.locate(progress);
        return stages.timed("imports", "start Python", () -> PythonHost.start(settings));
    }

    private static void write(
            Checkpoint source,
            BuildOptions options,
            CausalLmExport export,
            PythonHost host,
            Path directory,
            Stages stages) {
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            WeightStore weights = new WeightStore(
                    (type, data) -> BundleWriter.blob(type, bundle.weights().append(type, data)),
                    options,
                    StoredBlocks.of(source));
            BundleFiles.write(source, bundle, directory);
            int[] calibration = Calibration.needed(options) ? Calibration.ids(directory) : new int[0];
            CausalLmExport.Exported exported = export.run(host, weights, calibration);
            stages.timed("write", "write the bundle", () -> {
                bundle.program(exported.program());
                return null;
            });
            AneReport.log(exported.program(), options.target());
            ObjectNode description = exported.description();
            bundle.manifest(new ManifestText(options)
                    .source(
                            source.path().getFileName().toString(),
                            new SourceDigest(CacheRoot.locate()).of(source.files()))
                    .versions(versions(exported.versions()))
                    .model(description, export.plan())
                    .embedding(description.required("embedding"), weights)
                    .weights(weights)
                    .build(stages.seconds(), description.path("report"))
                    .text());
            bundle.finish();
        }
    }

    private static Map<String, String> versions(ObjectNode python) {
        Map<String, String> versions = new LinkedHashMap<>(Versions.all());
        python.properties()
                .forEach(each -> versions.put(each.getKey(), each.getValue().asText()));
        return versions;
    }
}
