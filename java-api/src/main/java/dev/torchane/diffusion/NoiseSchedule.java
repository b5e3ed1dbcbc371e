package dev.torchane.diffusion;

/**
 * How much of a picture is left at each training timestep, computed in the precision in which torch does it.
 *
 * @param alphas the cumulated product of 1 − β, {@code [timesteps]}
 */
record NoiseSchedule(float[] alphas) {

    private static final double LARGEST_BETA = 0.999;

    /** What the last alpha becomes where the schedule ends in pure noise and a scheduler divides by it. */
    private static final float SMALLEST_ALPHA = 0x1p-24f;

    private enum Betas {
        LINEAR,
        SCALED_LINEAR,
        SQUAREDCOS_CAP_V2
    }

    static NoiseSchedule of(SchedulerOptions options) {
        float[] betas = betas(options);
        return new NoiseSchedule(cumulated(betas));
    }

    /**
     * The same, where {@code rescale_betas_zero_snr} is an option: the last timestep becomes pure noise (Lin et al., 2023).
     *
     * @param divides whether the scheduler divides by the last alpha, which must then not be zero
     */
    static NoiseSchedule rescalable(SchedulerOptions options, boolean divides) {
        NoiseSchedule schedule = of(options);
        if (!options.flag("rescale_betas_zero_snr", false)) {
            return schedule;
        }
        float[] alphas = cumulated(rescaled(schedule.alphas));
        if (divides) {
            alphas[alphas.length - 1] = SMALLEST_ALPHA;
        }
        return new NoiseSchedule(alphas);
    }

    /** Whether the schedule is the cosine one; some schedulers treat its timesteps in a different way. */
    static boolean isCosine(SchedulerOptions options) {
        return options.choice("beta_schedule", Betas.LINEAR, Betas.class) == Betas.SQUAREDCOS_CAP_V2;
    }

    int timesteps() {
        return alphas.length;
    }

    /** σ of the variance-exploding form at each timestep, √((1 − α) / α). */
    float[] sigmas() {
        float[] sigmas = new float[alphas.length];
        for (int i = 0; i < sigmas.length; i++) {
            sigmas[i] = (float) Math.sqrt((1f - alphas[i]) / alphas[i]);
        }
        return sigmas;
    }

    /** α after a step that ends before timestep 0. */
    float beyond(boolean setAlphaToOne) {
        return setAlphaToOne ? 1f : alphas[0];
    }

    private static float[] betas(SchedulerOptions options) {
        if (options.has("trained_betas")) {
            return options.numbers("trained_betas");
        }
        int count = options.integer("num_train_timesteps", 1000, 1, 1_000_000);
        double start = options.number("beta_start", 0.0001);
        double end = options.number("beta_end", 0.02);
        return switch (options.choice("beta_schedule", Betas.LINEAR, Betas.class)) {
            case LINEAR -> evenlySpaced(start, end, count);
            case SCALED_LINEAR -> {
                float[] roots = evenlySpaced(Math.sqrt(start), Math.sqrt(end), count);
                for (int i = 0; i < count; i++) {
                    roots[i] *= roots[i];
                }
                yield roots;
            }
            case SQUAREDCOS_CAP_V2 -> {
                float[] betas = new float[count];
                for (int i = 0; i < count; i++) {
                    double ratio = alphaBar((double) (i + 1) / count) / alphaBar((double) i / count);
                    betas[i] = (float) Math.min(1 - ratio, LARGEST_BETA);
                }
                yield betas;
            }
        };
    }

    private static double alphaBar(double t) {
        double cosine = Math.cos((t + 0.008) / 1.008 * Math.PI / 2);
        return cosine * cosine;
    }

    /** As {@code torch.linspace} in fp32. */
    static float[] evenlySpaced(double from, double to, int count) {
        float start = (float) from;
        float end = (float) to;
        float step = count == 1 ? 0f : (end - start) / (count - 1);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = i < count / 2 ? Math.fma(step, i, start) : Math.fma(-step, count - i - 1, end);
        }
        return values;
    }

    private static float[] cumulated(float[] betas) {
        float[] alphas = new float[betas.length];
        double product = 1;
        for (int i = 0; i < betas.length; i++) {
            product *= 1f - betas[i];
            alphas[i] = (float) product;
        }
        return alphas;
    }

    private static float[] rescaled(float[] alphas) {
        int count = alphas.length;
        float first = (float) Math.sqrt(alphas[0]);
        float last = (float) Math.sqrt(alphas[count - 1]);
        float factor = first / (first - last);
        float[] bars = new float[count];
        for (int i = 0; i < count; i++) {
            float root = ((float) Math.sqrt(alphas[i]) - last) * factor;
            bars[i] = root * root;
        }
        float[] betas = new float[count];
        betas[0] = 1f - bars[0];
        for (int i = 1; i < count; i++) {
            betas[i] = 1f - bars[i] / bars[i - 1];
        }
        return betas;
    }
}
