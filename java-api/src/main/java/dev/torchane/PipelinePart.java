package dev.torchane;

import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleSource;
import dev.torchane.diffusion.PipelineConfig;
import dev.torchane.diffusion.PipelineShape;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The models of a pipeline: where each comes from, and what it is compiled for. */
enum PipelinePart {
    TEXT_ENCODER,
    /** With two functions: for guidance, and without. */
    UNET,
    VAE_DECODER,
    VAE_ENCODER;

    /** Folder of the compiled model in a pipeline's bundle. */
    Path bundle(Path pipeline) {
        return pipeline.resolve("programs").resolve(name().toLowerCase(Locale.ROOT));
    }

    ModuleSource source(PipelineConfig config) {
        Path directory = config.directory();
        return switch (this) {
            case TEXT_ENCODER ->
                ModuleSource.transformers("CLIPTextModel", directory.resolve(PipelineConfig.TEXT_ENCODER));
            case UNET -> ModuleSource.diffusers("UNet2DConditionModel", directory.resolve(PipelineConfig.UNET));
            case VAE_DECODER ->
                ModuleSource.diffusers("AutoencoderKL", directory.resolve(PipelineConfig.VAE))
                        .withMethod("decode");
            case VAE_ENCODER ->
                ModuleSource.diffusers("AutoencoderKL", directory.resolve(PipelineConfig.VAE))
                        .withMethod("_encode");
        };
    }

    List<ModuleInputs> functions(PipelineConfig config, ImageSize size) {
        PipelineShape shape = config.shape();
        int height = size.height() / shape.scale();
        int width = size.width() / shape.scale();
        return switch (this) {
            case TEXT_ENCODER -> List.of(ModuleInputs.of("input_ids", TensorType.of(DType.INT32, 1, shape.tokens())));
            case UNET -> List.of(unet(config, 2, height, width), unet(config, 1, height, width));
            case VAE_DECODER ->
                List.of(ModuleInputs.of("z", TensorType.of(DType.FP32, 1, shape.channels(), height, width)));
            case VAE_ENCODER ->
                List.of(ModuleInputs.of("x", TensorType.of(DType.FP32, 1, 3, size.height(), size.width())));
        };
    }

    private static ModuleInputs unet(PipelineConfig config, int batch, int height, int width) {
        PipelineShape shape = config.shape();
        return ModuleInputs.of("sample", TensorType.of(DType.FP32, batch, shape.channels(), height, width))
                .and("timestep", TensorType.of(DType.FP32, 1))
                .and("encoder_hidden_states", TensorType.of(DType.FP32, batch, shape.tokens(), config.hidden()));
    }
}
