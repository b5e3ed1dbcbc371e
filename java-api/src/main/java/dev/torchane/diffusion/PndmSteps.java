package dev.torchane.diffusion;

import dev.torchane.TorchAneException;
import java.util.ArrayList;
import java.util.List;

/**
 * Pseudo numerical methods (Liu et al., 2022): a linear multistep method of order four, begun by four Runge-Kutta steps or,
 * where {@code skip_prk_steps} is set, by steps of lower orders.
 */
final class PndmSteps implements Denoising {

    private static final int ORDER = 4;

    record Setup(
            NoiseSchedule schedule,
            Prediction prediction,
            boolean skipRungeKutta,
            float beyond,
            Timesteps spacing,
            int offset) {

        static Setup of(SchedulerOptions options) {
            options.require("prediction_type", "epsilon", "v_prediction");
            NoiseSchedule schedule = NoiseSchedule.of(options);
            return new Setup(
                    schedule,
                    options.choice("prediction_type", Prediction.EPSILON, Prediction.class),
                    options.flag("skip_prk_steps", false),
                    schedule.beyond(options.flag("set_alpha_to_one", false)),
                    options.choice("timestep_spacing", Timesteps.LEADING, Timesteps.class),
                    options.integer("steps_offset", 0, 0, 1000));
        }

        Denoising begin(int steps) {
            double[] spaced = spacing.descending(schedule.timesteps(), steps, offset, true);
            List<Integer> timesteps = new ArrayList<>();
            int rungeKutta = 0;
            if (skipRungeKutta) {
                for (double timestep : spaced) {
                    timesteps.add((int) timestep);
                }
                if (spaced.length > 1) {
                    timesteps.add(1, (int) spaced[1]);
                }
            } else {
                addRungeKutta(spaced, steps, timesteps);
                rungeKutta = timesteps.size();
                for (int i = ORDER - 1; i < spaced.length; i++) {
                    timesteps.add((int) spaced[i]);
                }
            }
            return new PndmSteps(
                    this,
                    schedule.timesteps() / steps,
                    timesteps.stream().mapToInt(Integer::intValue).toArray(),
                    rungeKutta);
        }

        /** Each of the first timesteps, the middle of the way to the next twice, and the next once more. */
        private void addRungeKutta(double[] spaced, int steps, List<Integer> timesteps) {
            if (spaced.length < ORDER) {
                throw new IllegalArgumentException(
                        "steps is " + steps + "; PNDM with Runge-Kutta steps needs at least " + ORDER);
            }
            int half = schedule.timesteps() / steps / 2;
            for (int i = 0; i < ORDER - 1; i++) {
                int middle = (int) spaced[i + 1] + half;
                timesteps.addAll(List.of((int) spaced[i], middle, middle, (int) spaced[i + 1]));
            }
        }
    }

    private final Setup setup;
    private final int distance;
    private final int[] timesteps;
    private final int rungeKutta;

    /** Calls so far; a picture made from a picture begins in the middle of the timesteps, but at the beginning here. */
    private int calls;

    /** The latest predictions, the latest last. */
    private final List<float[]> predictions = new ArrayList<>();

    private float[] before = {};
    private float[] sum = {};

    private PndmSteps(Setup setup, int distance, int[] timesteps, int rungeKutta) {
        this.setup = setup;
        this.distance = distance;
        this.timesteps = timesteps;
        this.rungeKutta = rungeKutta;
    }

    @Override
    public float[] timesteps() {
        float[] values = new float[timesteps.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = timesteps[i];
        }
        return values;
    }

    @Override
    public float[] noisy(float[] clean, float[] noise, int step) {
        return Latents.noisy(clean, noise, alpha(timesteps[step]));
    }

    @Override
    public float[] step(float[] prediction, float[] latents, int step) {
        int call = calls++;
        return call < rungeKutta
                ? rungeKutta(prediction, latents, step, call)
                : multistep(prediction, latents, timesteps[step], call);
    }

    private float[] rungeKutta(float[] prediction, float[] latents, int step, int call) {
        int previous = timesteps[step] - (call % 2 == 1 ? 0 : distance / 2);
        float[] slope = prediction;
        switch (call % ORDER) {
            case 0 -> {
                sum = Latents.scaled(1f / 6f, prediction);
                predictions.add(prediction);
                before = latents;
            }
            case 1, 2 -> sum = Latents.combine(1f, sum, 1f / 3f, prediction);
            default -> slope = Latents.combine(1f, sum, 1f / 6f, prediction);
        }
        return previous(before, timesteps[call / ORDER * ORDER], previous, slope);
    }

    private float[] multistep(float[] prediction, float[] latents, int timestep, int call) {
        if (rungeKutta > 0 && predictions.size() < ORDER - 1) {
            throw new TorchAneException(
                    "PNDM cannot begin after its Runge-Kutta steps: choose a strength nearer to 1, or"
                            + " another scheduler");
        }
        if (call == 1) {
            float[] mean = Latents.combine(0.5f, prediction, 0.5f, predictions.getLast());
            return previous(before, timestep + distance, timestep, mean);
        }
        while (predictions.size() > ORDER - 1) {
            predictions.removeFirst();
        }
        predictions.add(prediction);
        if (call == 0) {
            before = latents;
        }
        return previous(latents, timestep, timestep - distance, slope());
    }

    /** The methods of Adams and Bashforth, of as high an order as there are predictions. */
    private float[] slope() {
        int count = predictions.size();
        float[] slope = new float[predictions.getLast().length];
        for (int i = 0; i < slope.length; i++) {
            float e1 = predictions.get(count - 1)[i];
            slope[i] = switch (count) {
                case 1 -> e1;
                case 2 -> (3f * e1 - predictions.get(0)[i]) / 2f;
                case 3 ->
                    (23f * e1 - 16f * predictions.get(1)[i] + 5f * predictions.get(0)[i]) / 12f;
                default ->
                    1f
                            / 24f
                            * (55f * e1
                                    - 59f * predictions.get(2)[i]
                                    + 37f * predictions.get(1)[i]
                                    - 9f * predictions.get(0)[i]);
            };
        }
        return slope;
    }

    /** Equation 9: from one timestep to another along a slope. */
    private float[] previous(float[] latents, int from, int to, float[] slope) {
        float alpha = alpha(from);
        float next = to >= 0 ? alpha(to) : setup.beyond;
        float beta = 1f - alpha;
        float[] noise = setup.prediction == Prediction.V_PREDICTION
                ? Latents.combine((float) Math.sqrt(alpha), slope, (float) Math.sqrt(beta), latents)
                : slope;
        float keep = (float) Math.sqrt(next / alpha);
        float divisor = alpha * (float) Math.sqrt(1f - next) + (float) Math.sqrt(alpha * beta * next);
        float change = next - alpha;
        float[] values = new float[latents.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = keep * latents[i] - change * noise[i] / divisor;
        }
        return values;
    }

    private float alpha(int timestep) {
        return setup.schedule.alphas()[timestep];
    }
}
