package dev.torchane.diffusion;

/** Denoising diffusion implicit models (Song et al., 2020), equation 12 with σ = 0. */
final class DdimSteps implements Denoising {

    record Setup(
            NoiseSchedule schedule,
            Prediction prediction,
            boolean clip,
            float clipRange,
            float beyond,
            Timesteps spacing,
            int offset) {

        static Setup of(SchedulerOptions options) {
            options.require("thresholding", "false");
            NoiseSchedule schedule = NoiseSchedule.rescalable(options, false);
            return new Setup(
                    schedule,
                    options.choice("prediction_type", Prediction.EPSILON, Prediction.class),
                    options.flag("clip_sample", true),
                    (float) options.number("clip_sample_range", 1.0),
                    schedule.beyond(options.flag("set_alpha_to_one", true)),
                    options.choice("timestep_spacing", Timesteps.LEADING, Timesteps.class),
                    options.integer("steps_offset", 0, 0, 1000));
        }

        Denoising begin(int steps) {
            float[] timesteps = Timesteps.floats(spacing.descending(schedule.timesteps(), steps, offset, true));
            return new DdimSteps(this, timesteps, schedule.timesteps() / steps);
        }
    }

    private final Setup setup;
    private final float[] timesteps;
    private final int distance;

    private DdimSteps(Setup setup, float[] timesteps, int distance) {
        this.setup = setup;
        this.timesteps = timesteps;
        this.distance = distance;
    }

    @Override
    public float[] timesteps() {
        return timesteps.clone();
    }

    @Override
    public float[] noisy(float[] clean, float[] noise, int step) {
        return Latents.noisy(clean, noise, alpha((int) timesteps[step]));
    }

    @Override
    public float[] step(float[] prediction, float[] latents, int step) {
        int timestep = (int) timesteps[step];
        float alpha = alpha(timestep);
        float next = timestep >= distance ? alpha(timestep - distance) : setup.beyond;
        float signal = (float) Math.sqrt(alpha);
        float noise = (float) Math.sqrt(1f - alpha);
        float nextSignal = (float) Math.sqrt(next);
        float nextNoise = (float) Math.sqrt(1f - next);
        float[] values = new float[latents.length];
        for (int i = 0; i < values.length; i++) {
            float clean = switch (setup.prediction) {
                case EPSILON -> (latents[i] - noise * prediction[i]) / signal;
                case SAMPLE -> prediction[i];
                case V_PREDICTION -> signal * latents[i] - noise * prediction[i];
            };
            float epsilon = switch (setup.prediction) {
                case EPSILON -> prediction[i];
                case SAMPLE -> (latents[i] - signal * clean) / noise;
                case V_PREDICTION -> signal * prediction[i] + noise * latents[i];
            };
            float kept = setup.clip ? Math.clamp(clean, -setup.clipRange, setup.clipRange) : clean;
            values[i] = nextSignal * kept + nextNoise * epsilon;
        }
        return values;
    }

    private float alpha(int timestep) {
        return setup.schedule.alphas()[timestep];
    }
}
