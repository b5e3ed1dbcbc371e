package dev.torchane.diffusion;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Three models that compute next to nothing, and remember what they were asked. Latents of 4 channels, an eighth of the picture. */
public final class FakePipeline {

    public static final int CHANNELS = 4;
    public static final int SCALE = 8;
    public static final int TOKENS = 77;
    private static final int HIDDEN = 2;

    /** The first dimension of each call of the UNet. */
    public final List<Integer> batches = Collections.synchronizedList(new ArrayList<>());

    /** The timestep of each call of the UNet. */
    public final List<Float> timesteps = Collections.synchronizedList(new ArrayList<>());

    /** The second id of each call of the text encoder: of the first word. */
    public final List<Integer> words = Collections.synchronizedList(new ArrayList<>());

    /** Runs in each call of the UNet, with the number of the call from 1 on. */
    public Consumer<Integer> onUnet = call -> {};

    /** Call of the UNet from which on it answers nothing finite. */
    public int overflowsAt = Integer.MAX_VALUE;

    /** Whether the VAE does. */
    public boolean vaeOverflows;

    public PipelineShape shape() {
        return new PipelineShape(CHANNELS, SCALE, 0.5f, TOKENS);
    }

    public PipelineModels models() {
        return new PipelineModels(this::text, this::unet, this::decode, Optional.of(this::encode));
    }

    public DiffusionLoop loop() {
        return new DiffusionLoop(models(), shape());
    }

    private Map<String, Tensor> text(Map<String, Tensor> inputs) {
        Tensor ids = inputs.get("input_ids");
        words.add((int) ids.get(1));
        Tensor embeddings = Tensor.allocate(TensorType.of(DType.FP32, 1, TOKENS, HIDDEN));
        for (int i = 0; i < TOKENS * HIDDEN; i++) {
            embeddings.set(i, ids.get(1) / 1000f);
        }
        return Map.of("last_hidden_state", embeddings);
    }

    /** A tenth of the sample, and the first embedding of its own half of the batch. */
    private Map<String, Tensor> unet(Map<String, Tensor> inputs) {
        Tensor sample = inputs.get("sample");
        Tensor text = inputs.get("encoder_hidden_states");
        int batch = sample.type().axis(0);
        batches.add(batch);
        timesteps.add(inputs.get("timestep").get(0));
        onUnet.accept(batches.size());
        float[] values = sample.toFloats();
        int one = values.length / batch;
        for (int i = 0; i < values.length; i++) {
            values[i] = 0.1f * values[i] + text.get((long) (i / one) * TOKENS * HIDDEN);
        }
        if (batches.size() >= overflowsAt) {
            values[1] = Float.NaN;
        }
        return Map.of("sample_out", Tensor.of(sample.type(), values));
    }

    /** Each latent as a block of pixels; the fourth channel is left out. */
    private Map<String, Tensor> decode(Map<String, Tensor> inputs) {
        Tensor latents = inputs.get("z");
        int height = latents.type().axis(2);
        int width = latents.type().axis(3);
        TensorType type = TensorType.of(DType.FP32, 1, 3, height * SCALE, width * SCALE);
        Tensor pixels = Tensor.allocate(type);
        for (int i = 0; i < type.elements(); i++) {
            int plane = width * SCALE * height * SCALE;
            int y = i % plane / (width * SCALE) / SCALE;
            int x = i % (width * SCALE) / SCALE;
            pixels.set(i, latents.get((long) i / plane * width * height + (long) y * width + x));
        }
        if (vaeOverflows) {
            pixels.set(0, Float.POSITIVE_INFINITY);
        }
        return Map.of("sample", pixels);
    }

    /** Means: a pixel of each block; log variances so small that nothing random is left. */
    private Map<String, Tensor> encode(Map<String, Tensor> inputs) {
        Tensor pixels = inputs.get("x");
        int height = pixels.type().axis(2) / SCALE;
        int width = pixels.type().axis(3) / SCALE;
        Tensor moments = Tensor.allocate(TensorType.of(DType.FP32, 1, 2 * CHANNELS, height, width));
        int count = CHANNELS * height * width;
        for (int i = 0; i < count; i++) {
            moments.set(i, i / (height * width) == CHANNELS - 1 ? 0 : pixels.get(0));
            moments.set((long) count + i, -1000f);
        }
        return Map.of("output", moments);
    }
}
