package dev.torchane;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.build.Exporter;
import dev.torchane.build.Progress;
import dev.torchane.diffusion.DiffusionLoop;
import dev.torchane.diffusion.PipelineConfig;
import dev.torchane.diffusion.PipelineModels;
import dev.torchane.diffusion.TensorModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A pipeline that is built: one folder with the compiled models, and the small files of the pipeline as they were. It needs no Python
 * and nothing of what it was built from.
 */
final class PipelineBundle {

    private static final FolderDescription DESCRIPTION = new FolderDescription("pipeline.json", "stable-diffusion", 1);

    private PipelineBundle() {}

    static boolean is(Path directory) {
        return DESCRIPTION.isIn(directory);
    }

    /** The bundle of a pipeline in the cache. */
    static CachedBuild cached(Path pipeline, String name, StableDiffusionOptions options) {
        PipelineConfig config = PipelineConfig.read(pipeline);
        ImageSize size = options.size().orElseGet(() -> ImageSize.square(config.side()));
        List<PipelinePart> parts = parts(options.fromPictures());
        CompileOptions compile = options.compile();
        SortedMap<String, String> text = new TreeMap<>(compile.build().asText());
        Set<Path> files = new LinkedHashSet<>(config.files());
        for (PipelinePart part : parts) {
            files.addAll(part.source(config).files());
            text.put(part.name(), part.functions(config, size).toString());
        }
        return new CachedBuild(
                pipeline + " for pictures of " + size,
                compile.cache(),
                List.copyOf(files),
                text,
                CachedBuild.exporter(),
                (exporter, directory) -> {
                    for (PipelinePart part : parts) {
                        export(exporter, part, config, size, compile, part.bundle(directory));
                    }
                    config.copyTo(directory);
                    describe(directory, name, size);
                });
    }

    private static List<PipelinePart> parts(boolean fromPictures) {
        List<PipelinePart> parts = new ArrayList<>(List.of(PipelinePart.values()));
        if (!fromPictures) {
            parts.remove(PipelinePart.VAE_ENCODER);
        }
        return parts;
    }

    private static void export(
            Exporter exporter,
            PipelinePart part,
            PipelineConfig config,
            ImageSize size,
            CompileOptions options,
            Path bundle) {
        String title = part.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        try (RecordedStages stages = new RecordedStages(title, options.progress())) {
            Files.createDirectories(bundle);
            exporter.exportModule(
                    part.source(config), part.functions(config, size), options.build(), bundle, named(title, stages));
        } catch (IOException e) {
            throw new TorchAneException("cannot write " + bundle + ": " + e, e);
        }
    }

    private static Progress named(String part, Progress next) {
        return new Progress() {
            @Override
            public void stage(String stage, long total, String unit) {
                next.stage(part + ": " + stage, total, unit);
            }

            @Override
            public void done(long units) {
                next.done(units);
            }
        };
    }

    private static void describe(Path directory, String name, ImageSize size) {
        DESCRIPTION.write(
                directory,
                DESCRIPTION.begin().put("name", name).put("width", size.width()).put("height", size.height()));
    }

    /**
     * Loads a bundle.
     *
     * @throws TorchAneException when it is damaged or the engine cannot run it
     */
    static StableDiffusion open(Path directory, CompileOptions options) {
        JsonNode description = DESCRIPTION.read(directory);
        PipelineConfig config = PipelineConfig.read(directory);
        Map<PipelinePart, CompiledModule> modules = new EnumMap<>(PipelinePart.class);
        try {
            for (PipelinePart part : PipelinePart.values()) {
                Path bundle = part.bundle(directory);
                if (part != PipelinePart.VAE_ENCODER || Files.isDirectory(bundle)) {
                    modules.put(part, CompiledModule.open(bundle, options));
                }
            }
            PipelineModels models = new PipelineModels(
                    modules.get(PipelinePart.TEXT_ENCODER)::run,
                    modules.get(PipelinePart.UNET)::run,
                    modules.get(PipelinePart.VAE_DECODER)::run,
                    Optional.ofNullable(modules.get(PipelinePart.VAE_ENCODER))
                            .map(module -> (TensorModel) module::run));
            return new StableDiffusion(
                    description.path("name").asText(),
                    config,
                    new ImageSize(
                            description.path("width").asInt(),
                            description.path("height").asInt()),
                    new DiffusionLoop(models, config.shape()),
                    () -> modules.values().forEach(CompiledModule::close));
        } catch (RuntimeException | Error failure) {
            modules.values().forEach(CompiledModule::close);
            throw failure;
        }
    }
}
