package dev.torchane.diffusion;

/** Euler's method for the probability flow (Karras et al., 2022, algorithm 2 without churn). */
final class EulerSteps implements Denoising {

    private enum Interpolation {
        LINEAR,
        LOG_LINEAR
    }

    record Setup(
            NoiseSchedule schedule,
            Prediction prediction,
            boolean logLinear,
            boolean karras,
            double sigmaMin,
            double sigmaMax,
            FinalSigma finalSigma,
            Timesteps spacing,
            int offset) {

        static Setup of(SchedulerOptions options) {
            options.require("timestep_type", "discrete");
            options.require("use_exponential_sigmas", "false");
            options.require("use_beta_sigmas", "false");
            return new Setup(
                    NoiseSchedule.rescalable(options, true),
                    options.choice("prediction_type", Prediction.EPSILON, Prediction.class),
                    options.choice("interpolation_type", Interpolation.LINEAR, Interpolation.class)
                            == Interpolation.LOG_LINEAR,
                    options.flag("use_karras_sigmas", false),
                    options.number("sigma_min", Double.NaN),
                    options.number("sigma_max", Double.NaN),
                    options.choice("final_sigmas_type", FinalSigma.ZERO, FinalSigma.class),
                    options.choice("timestep_spacing", Timesteps.LINSPACE, Timesteps.class),
                    options.integer("steps_offset", 0, 0, 1000));
        }

        Denoising begin(int steps) {
            Sigmas trained = new Sigmas(schedule.sigmas());
            double[] timesteps = spacing.descending(schedule.timesteps(), steps, offset, false);
            double[] sigmas = logLinear ? trained.logLinear(steps + 1) : trained.at(asFloats(timesteps));
            if (karras) {
                sigmas = Sigmas.karras(
                        Double.isNaN(sigmaMin) ? sigmas[sigmas.length - 1] : sigmaMin,
                        Double.isNaN(sigmaMax) ? sigmas[0] : sigmaMax,
                        steps);
                timesteps = trained.timesteps(sigmas);
            }
            return new EulerSteps(this, timesteps, Sigmas.ending(sigmas, finalSigma.of(trained)));
        }

        private static double[] asFloats(double[] values) {
            double[] rounded = new double[values.length];
            for (int i = 0; i < values.length; i++) {
                rounded[i] = (float) values[i];
            }
            return rounded;
        }
    }

    private final Setup setup;
    private final float[] timesteps;
    private final float[] sigmas;

    private EulerSteps(Setup setup, double[] timesteps, float[] sigmas) {
        this.setup = setup;
        this.timesteps = Timesteps.floats(timesteps);
        this.sigmas = sigmas;
    }

    @Override
    public float[] timesteps() {
        return timesteps.clone();
    }

    @Override
    public float initialScale() {
        float largest = 0;
        for (float sigma : sigmas) {
            largest = Math.max(largest, sigma);
        }
        return setup.spacing == Timesteps.LEADING ? root(largest) : largest;
    }

    @Override
    public float[] scaled(float[] latents, int step) {
        float divisor = root(sigmas[step]);
        float[] scaled = new float[latents.length];
        for (int i = 0; i < scaled.length; i++) {
            scaled[i] = latents[i] / divisor;
        }
        return scaled;
    }

    @Override
    public float[] noisy(float[] clean, float[] noise, int step) {
        return Latents.combine(1f, clean, sigmas[step], noise);
    }

    @Override
    public float[] step(float[] prediction, float[] latents, int step) {
        float sigma = sigmas[step];
        float width = sigmas[step + 1] - sigma;
        float velocity = -sigma / root(sigma);
        float square = sigma * sigma + 1f;
        float[] next = new float[latents.length];
        for (int i = 0; i < next.length; i++) {
            float clean = switch (setup.prediction) {
                case EPSILON -> latents[i] - sigma * prediction[i];
                case V_PREDICTION -> prediction[i] * velocity + latents[i] / square;
                case SAMPLE -> prediction[i];
            };
            next[i] = latents[i] + (latents[i] - clean) / sigma * width;
        }
        return next;
    }

    /** √(σ² + 1) */
    private static float root(float sigma) {
        return (float) Math.sqrt(sigma * sigma + 1f);
    }
}
