package dev.torchane.diffusion;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Makes pictures from ids: text encoder, UNet with guidance, scheduler, VAE. Any number of threads may use one. */
public final class DiffusionLoop {

    /** Bounds of the VAE's log variance, as diffusers clamps it. */
    private static final float LEAST_LOG_VARIANCE = -30f;

    private static final float MOST_LOG_VARIANCE = 20f;

    private final PipelineModels models;
    private final PipelineShape shape;

    public DiffusionLoop(PipelineModels models, PipelineShape shape) {
        this.models = models;
        this.shape = shape;
    }

    /**
     * What a picture is made of.
     *
     * @param prompt ids of the prompt, as many as the text encoder takes
     * @param negative ids of what the picture is led away from; not looked at without guidance
     * @param guidance how strongly; 1 and less is without guidance, and the UNet then runs for one picture instead of two
     * @param scheduler steps and their way
     * @param steps from pure noise to the picture
     * @param seed of the noise
     * @param width in pixels, a multiple of the pipeline's scale
     * @param height in pixels, likewise
     * @param start a picture to begin with
     */
    public record Request(
            int[] prompt,
            int[] negative,
            double guidance,
            Scheduler scheduler,
            int steps,
            long seed,
            int width,
            int height,
            Optional<Start> start) {

        boolean guided() {
            return guidance > 1;
        }
    }

    /**
     * A picture to begin with.
     *
     * @param pixels {@code [3, height, width]} in −1 to 1
     * @param strength how much of the way is gone, above 0 and at most 1: at 1 next to nothing is left of it
     */
    public record Start(float[] pixels, double strength) {}

    /**
     * A picture.
     *
     * @param pixels {@code [3, height, width]}, about −1 to 1
     * @param latents what it was decoded from
     */
    public record Picture(float[] pixels, float[] latents, DiffusionTimings timings) {}

    /**
     * Makes a picture.
     *
     * @param cancelled asked before each call of a model
     * @param onStep hears about each step, on this thread
     * @throws NonFiniteException when a model overflows
     * @throws CancellationException when {@code cancelled} says so
     * @throws IllegalArgumentException when steps or strength leave nothing to do
     */
    public Picture run(Request request, BooleanSupplier cancelled, Consumer<DiffusionStep> onStep) {
        return new Run(request, cancelled, onStep).picture();
    }

    /** One picture on its way. */
    private final class Run {

        private final Request request;
        private final BooleanSupplier cancelled;
        private final Consumer<DiffusionStep> onStep;
        private final TensorType latentType;
        private final List<Long> unetNanos = new ArrayList<>();
        private long vaeNanos;

        Run(Request request, BooleanSupplier cancelled, Consumer<DiffusionStep> onStep) {
            this.request = request;
            this.cancelled = cancelled;
            this.onStep = onStep;
            this.latentType = TensorType.of(
                    DType.FP32, 1, shape.channels(), request.height() / shape.scale(), request.width() / shape.scale());
        }

        Picture picture() {
            long begin = System.nanoTime();
            Denoising denoising = request.scheduler().begin(request.steps());
            float[] timesteps = denoising.timesteps();
            int first = firstStep();
            goOn("before the first step");
            float[] text = text();
            long textNanos = System.nanoTime() - begin;
            float[] latents = initial(denoising, first);
            int count = timesteps.length - first;
            for (int step = first; step < timesteps.length; step++) {
                int number = step - first + 1;
                goOn("before step " + number + " of " + count);
                float[] prediction = predict(denoising.scaled(latents, step), timesteps[step], text);
                latents = denoising.step(prediction, latents, step);
                requireFinite(
                        latents,
                        "latents at step " + number + " of " + count + " (timestep " + timesteps[step] + ")",
                        number);
                onStep.accept(new DiffusionStep(number, count, timesteps[step], latents, this::decode));
            }
            goOn("before the VAE");
            float[] pixels = decode(latents);
            long total = System.nanoTime() - begin;
            return new Picture(pixels, latents, new DiffusionTimings(textNanos, unetNanos, vaeNanos, total));
        }

        /** Schedulers may make more calls than there are steps; what is left out at the beginning is counted in calls. */
        private int firstStep() {
            if (request.start().isEmpty()) {
                return 0;
            }
            double strength = request.start().get().strength();
            int gone = Math.min((int) (request.steps() * strength), request.steps());
            if (!(strength > 0 && strength <= 1) || gone < 1) {
                throw new IllegalArgumentException(
                        "strength " + strength + " of " + request.steps() + " steps is no step: choose a strength from "
                                + 1.0 / request.steps() + " to 1, or more steps");
            }
            return request.steps() - gone;
        }

        /** Embeddings of the negative prompt, where there is guidance, and of the prompt, one behind the other. */
        private float[] text() {
            return request.guided()
                    ? joined(encoded(request.negative()), encoded(request.prompt()))
                    : encoded(request.prompt());
        }

        private float[] encoded(int[] ids) {
            float[] values = new float[ids.length];
            for (int i = 0; i < ids.length; i++) {
                values[i] = ids[i];
            }
            Tensor input = Tensor.of(TensorType.of(DType.INT32, 1, ids.length), values);
            float[] embeddings = output(models.textEncoder(), Map.of("input_ids", input), "last_hidden_state");
            requireFinite(embeddings, "text embeddings", 0);
            return embeddings;
        }

        private float[] initial(Denoising denoising, int first) {
            TorchRandom random = new TorchRandom(request.seed());
            int count = shape.latents(request.width(), request.height());
            if (request.start().isPresent()) {
                float[] clean = encodedPicture(request.start().get().pixels(), random);
                return denoising.noisy(clean, random.normal(count), first);
            }
            float[] noise = random.normal(count);
            return Latents.scaled(denoising.initialScale(), noise);
        }

        private float[] encodedPicture(float[] pixels, TorchRandom random) {
            TensorModel encoder = models.vaeEncoder()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "this model has no VAE encoder: pictures cannot be made from pictures"));
            long begin = System.nanoTime();
            Tensor input = Tensor.of(TensorType.of(DType.FP32, 1, 3, request.height(), request.width()), pixels);
            float[] moments = output(encoder, Map.of("x", input), "output");
            vaeNanos += System.nanoTime() - begin;
            requireFinite(moments, "latents of the picture to begin with", 0);
            int count = moments.length / 2;
            float[] noise = random.normal(count);
            float[] latents = new float[count];
            for (int i = 0; i < count; i++) {
                float logVariance = Math.clamp(moments[count + i], LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE);
                float deviation = (float) Math.exp(0.5f * logVariance);
                latents[i] = shape.scalingFactor() * (moments[i] + deviation * noise[i]);
            }
            return latents;
        }

        private float[] predict(float[] latents, float timestep, float[] text) {
            int batch = request.guided() ? 2 : 1;
            List<Integer> one = latentType.shape();
            TensorType type = TensorType.of(DType.FP32, batch, one.get(1), one.get(2), one.get(3));
            int hidden = text.length / batch / shape.tokens();
            Map<String, Tensor> inputs = Map.of(
                    "sample", Tensor.of(type, batch == 2 ? joined(latents, latents) : latents),
                    "timestep", Tensor.of(TensorType.of(DType.FP32, 1), timestep),
                    "encoder_hidden_states", Tensor.of(TensorType.of(DType.FP32, batch, shape.tokens(), hidden), text));
            long begin = System.nanoTime();
            float[] predicted = output(models.unet(), inputs, "sample_out");
            unetNanos.add(System.nanoTime() - begin);
            return batch == 2 ? guided(predicted) : predicted;
        }

        /** Ho and Salimans (2022): from the unconditional prediction through the conditional one and beyond. */
        private float[] guided(float[] predicted) {
            float scale = (float) request.guidance();
            float[] guided = new float[predicted.length / 2];
            for (int i = 0; i < guided.length; i++) {
                guided[i] = predicted[i] + scale * (predicted[guided.length + i] - predicted[i]);
            }
            return guided;
        }

        private float[] decode(float[] latents) {
            long begin = System.nanoTime();
            float[] values = new float[latents.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = latents[i] / shape.scalingFactor();
            }
            float[] pixels = output(models.vaeDecoder(), Map.of("z", Tensor.of(latentType, values)), "sample");
            vaeNanos += System.nanoTime() - begin;
            requireFinite(pixels, "pixels from the VAE", 0);
            return pixels;
        }

        private void goOn(String where) {
            if (cancelled.getAsBoolean()) {
                throw new CancellationException("the picture was cancelled " + where);
            }
        }
    }

    private static float[] output(TensorModel model, Map<String, Tensor> inputs, String name) {
        Map<String, Tensor> outputs = model.run(inputs);
        Tensor output = outputs.get(name);
        if (output == null) {
            throw new IllegalStateException("the model has no output '" + name + "', it has " + outputs.keySet());
        }
        return output.toFloats();
    }

    private static void requireFinite(float[] values, String what, int step) {
        for (float value : values) {
            if (!Float.isFinite(value)) {
                throw new NonFiniteException(what, step);
            }
        }
    }

    private static float[] joined(float[] first, float[] second) {
        float[] both = new float[first.length + second.length];
        System.arraycopy(first, 0, both, 0, first.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
