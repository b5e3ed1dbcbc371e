package dev.torchane.diffusion;

import java.util.Arrays;

/** Noise levels of the variance-exploding form, and the timesteps that belong to them. */
final class Sigmas {

    private static final double RHO = 7.0;

    private final float[] trained;
    private final float[] logs;

    /** @param trained σ of each training timestep, ascending */
    Sigmas(float[] trained) {
        this.trained = trained;
        this.logs = new float[trained.length];
        for (int i = 0; i < logs.length; i++) {
            logs[i] = (float) Math.log(trained[i]);
        }
    }

    double smallest() {
        return trained[0];
    }

    double largest() {
        return trained[trained.length - 1];
    }

    /** σ at timesteps that may lie between two. */
    double[] at(double[] timesteps) {
        double[] sigmas = new double[timesteps.length];
        for (int i = 0; i < sigmas.length; i++) {
            double t = Math.clamp(timesteps[i], 0, trained.length - 1);
            int below = Math.min((int) t, trained.length - 2);
            double slope = (double) trained[below + 1] - trained[below];
            sigmas[i] = t == trained.length - 1 ? largest() : slope * (t - below) + trained[below];
        }
        return sigmas;
    }

    /** The sigmas of Karras et al. (2022), equation 5, descending. */
    static double[] karras(double smallest, double largest, int steps) {
        double low = Math.pow(smallest, 1 / RHO);
        double high = Math.pow(largest, 1 / RHO);
        double[] ramp = Timesteps.evenlySpaced(1, steps);
        return Arrays.stream(ramp)
                .map(r -> Math.pow(high + r * (low - high), RHO))
                .toArray();
    }

    /** As many sigmas as asked for, their logarithms evenly spaced, descending. */
    double[] logLinear(int count) {
        float[] spaced = NoiseSchedule.evenlySpaced(logs[logs.length - 1], logs[0], count);
        double[] sigmas = new double[count];
        for (int i = 0; i < count; i++) {
            sigmas[i] = (float) Math.exp(spaced[i]);
        }
        return sigmas;
    }

    /** The timesteps, possibly between two, whose sigmas these are. */
    double[] timesteps(double[] sigmas) {
        return Arrays.stream(sigmas).map(this::timestep).toArray();
    }

    private double timestep(double sigma) {
        double log = Math.log(Math.max(sigma, 1e-10));
        int low = 0;
        for (int i = 0; i < logs.length; i++) {
            if (log >= logs[i]) {
                low = i;
            }
        }
        low = Math.min(low, logs.length - 2);
        double weight = Math.clamp((logs[low] - log) / (logs[low] - logs[low + 1]), 0, 1);
        return (1 - weight) * low + weight * (low + 1);
    }

    /** The sigmas of a schedule in fp32, with the one that its last step ends at. */
    static float[] ending(double[] sigmas, double last) {
        float[] values = Arrays.copyOf(Timesteps.floats(sigmas), sigmas.length + 1);
        values[sigmas.length] = (float) last;
        return values;
    }
}
