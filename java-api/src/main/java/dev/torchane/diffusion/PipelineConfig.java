package dev.torchane.diffusion;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a pipeline's directory says of its models: the layout of Stable Diffusion 1.x and 2.x, as diffusers saves it.
 *
 * @param directory with {@code model_index.json}
 * @param shape sizes that the models share
 * @param side width and height that the model was trained for, in pixels
 * @param hidden width of the text embeddings
 */
public record PipelineConfig(Path directory, PipelineShape shape, int side, int hidden) {

    public static final String INDEX = "model_index.json";
    public static final String TEXT_ENCODER = "text_encoder";
    public static final String UNET = "unet";
    public static final String VAE = "vae";
    public static final String TOKENIZER = "tokenizer";

    private static final List<String> PIPELINES = List.of("StableDiffusionPipeline", "StableDiffusionImg2ImgPipeline");

    /** What the parts of a pipeline are made of. */
    private static final Map<String, String> CLASSES = Map.of(
            TEXT_ENCODER,
            "CLIPTextModel",
            UNET,
            "UNet2DConditionModel",
            VAE,
            "AutoencoderKL",
            TOKENIZER,
            "CLIPTokenizer");

    /** Entries of a UNet's configuration that ask for inputs that a text-to-image loop does not have. */
    private static final List<String> FURTHER_INPUTS = List.of(
            "class_embed_type",
            "num_class_embeds",
            "addition_embed_type",
            "time_cond_proj_dim",
            "encoder_hid_dim_type");

    private static final double SCALING_FACTOR = 0.18215;

    /**
     * Reads a directory.
     *
     * @throws TorchAneException when a file is missing or damaged, or the pipeline is of another kind
     */
    public static PipelineConfig read(Path directory) {
        JsonNode index = ConfigFile.read(directory.resolve(INDEX));
        String pipeline = index.path("_class_name").asText();
        if (!PIPELINES.contains(pipeline)) {
            throw new TorchAneException(directory + " is a " + pipeline + "; expected a " + PIPELINES.getFirst()
                    + " (Stable Diffusion 1.x or 2.x)");
        }
        CLASSES.forEach((part, expected) -> {
            String found = index.path(part).path(1).asText();
            if (!found.equals(expected) && !found.equals(expected + "Fast")) {
                throw new TorchAneException(
                        directory.resolve(INDEX) + ": " + part + " is a " + found + "; expected a " + expected);
            }
        });
        Path unetFile = directory.resolve(UNET).resolve("config.json");
        JsonNode unet = ConfigFile.read(unetFile);
        for (String entry : FURTHER_INPUTS) {
            if (!unet.path(entry).isMissingNode() && !unet.path(entry).isNull()) {
                throw new TorchAneException(unetFile + ": " + entry + " is " + unet.path(entry)
                        + "; the UNet wants an input that Stable Diffusion 1.x and 2.x do not have");
            }
        }
        Path vaeFile = directory.resolve(VAE).resolve("config.json");
        JsonNode vae = ConfigFile.read(vaeFile);
        Path textFile = directory.resolve(TEXT_ENCODER).resolve("config.json");
        JsonNode text = ConfigFile.read(textFile);
        if (text.path("use_attention_mask").asBoolean()) {
            throw new TorchAneException(textFile + ": use_attention_mask is true, which is not supported");
        }
        int channels = whole(vaeFile, vae, "latent_channels", 4);
        int entering = whole(unetFile, unet, "in_channels", 4);
        if (entering != channels || whole(unetFile, unet, "out_channels", 4) != channels) {
            throw new TorchAneException(unetFile + ": the UNet takes " + entering + " channels and gives "
                    + unet.path("out_channels") + ", the VAE's latents have " + channels
                    + " (inpainting and upscaling models are not supported)");
        }
        int scale = 1 << Math.max(0, vae.path("block_out_channels").size() - 1);
        int side = whole(unetFile, unet, "sample_size", 64) * scale;
        PipelineShape shape = new PipelineShape(
                channels,
                scale,
                (float) vae.path("scaling_factor").asDouble(SCALING_FACTOR),
                whole(textFile, text, "max_position_embeddings", 77));
        return new PipelineConfig(directory, shape, side, whole(textFile, text, "hidden_size", 512));
    }

    /** The scheduler's configuration. */
    public Path scheduler() {
        return directory.resolve("scheduler").resolve("scheduler_config.json");
    }

    /** Every small file that this class, the scheduler and the tokenizer read, in an order that does not change. */
    public List<Path> files() {
        List<Path> files = new ArrayList<>(List.of(
                directory.resolve(INDEX),
                directory.resolve(TEXT_ENCODER).resolve("config.json"),
                directory.resolve(UNET).resolve("config.json"),
                directory.resolve(VAE).resolve("config.json"),
                scheduler()));
        try (Stream<Path> tokenizer = Files.list(directory.resolve(TOKENIZER))) {
            tokenizer.filter(Files::isRegularFile).sorted().forEach(files::add);
        } catch (IOException e) {
            throw new TorchAneException(directory.resolve(TOKENIZER) + " cannot be read: " + e, e);
        }
        return files;
    }

    /**
     * Copies {@link #files()}.
     *
     * @param target an existing directory
     */
    public void copyTo(Path target) {
        for (Path file : files()) {
            Path copy = target.resolve(directory.relativize(file).toString());
            try {
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            } catch (IOException e) {
                throw new TorchAneException("cannot copy " + file + " to " + copy + ": " + e, e);
            }
        }
    }

    private static int whole(Path file, JsonNode config, String entry, int otherwise) {
        JsonNode node = config.path(entry);
        if (node.isMissingNode()) {
            return otherwise;
        }
        if (!node.isInt() || node.intValue() < 1) {
            throw new TorchAneException(file + ": " + entry + " is " + node + "; expected a whole number above 0");
        }
        return node.intValue();
    }
}
