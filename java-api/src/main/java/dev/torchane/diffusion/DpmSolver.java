package dev.torchane.diffusion;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;

/**
 * DPM-Solver++ as a multistep method (Lu et al., 2022, algorithm 2), of order 1 to 3: a polynomial through the latest
 * predictions of the clean latents.
 */
final class DpmSolver implements Denoising {

    /** Below so many steps the last ones are of a lower order, where the file asks for it. */
    private static final int FEW_STEPS = 15;

    private enum SolverType {
        MIDPOINT,
        HEUN
    }

    record Setup(
            NoiseSchedule schedule,
            Prediction prediction,
            int order,
            boolean heun,
            boolean lowerOrderFinal,
            boolean eulerAtFinal,
            boolean karras,
            boolean rounded,
            FinalSigma finalSigma,
            double smallestLambda,
            Timesteps spacing,
            int offset) {

        static Setup of(SchedulerOptions options) {
            options.require("algorithm_type", "dpmsolver++");
            options.require("variance_type", "null");
            for (String unsupported : new String[] {
                "thresholding",
                "use_exponential_sigmas",
                "use_beta_sigmas",
                "use_lu_lambdas",
                "use_flow_sigmas",
                "use_dynamic_shifting"
            }) {
                options.require(unsupported, "false");
            }
            return new Setup(
                    NoiseSchedule.rescalable(options, true),
                    options.choice("prediction_type", Prediction.EPSILON, Prediction.class),
                    options.integer("solver_order", 2, 1, 3),
                    options.choice("solver_type", SolverType.MIDPOINT, SolverType.class) == SolverType.HEUN,
                    options.flag("lower_order_final", true),
                    options.flag("euler_at_final", false),
                    options.flag("use_karras_sigmas", false),
                    !NoiseSchedule.isCosine(options),
                    options.choice("final_sigmas_type", FinalSigma.ZERO, FinalSigma.class),
                    options.number("lambda_min_clipped", Double.NEGATIVE_INFINITY),
                    options.choice("timestep_spacing", Timesteps.LINSPACE, Timesteps.class),
                    options.integer("steps_offset", 0, 0, 1000));
        }

        Denoising begin(int steps) {
            Sigmas trained = new Sigmas(schedule.sigmas());
            double[] timesteps;
            double[] sigmas;
            if (karras) {
                sigmas = Sigmas.karras(trained.smallest(), trained.largest(), steps);
                timesteps = trained.timesteps(sigmas);
            } else {
                timesteps = timesteps(steps);
                sigmas = trained.at(timesteps);
            }
            float[] whole = new float[timesteps.length];
            for (int i = 0; i < whole.length; i++) {
                whole[i] = (int) (rounded ? Math.rint(timesteps[i]) : timesteps[i]);
            }
            return new DpmSolver(this, whole, Sigmas.ending(sigmas, finalSigma.of(trained)));
        }

        private double[] timesteps(int steps) {
            int last = timestepsAboveSmallestLambda();
            return switch (spacing) {
                case LINSPACE -> {
                    double[] spaced = Timesteps.evenlySpaced(last - 1, steps + 1);
                    double[] values = new double[steps];
                    for (int i = 0; i < steps; i++) {
                        values[i] = Math.rint(spaced[steps - i]);
                    }
                    yield values;
                }
                case LEADING -> {
                    double[] values = Timesteps.multiples(last / (steps + 1), steps + 1, offset);
                    yield Arrays.copyOf(values, steps);
                }
                case TRAILING -> Timesteps.countedDown(last, (double) schedule.timesteps() / steps);
            };
        }

        private int timestepsAboveSmallestLambda() {
            int count = schedule.timesteps();
            while (count > 1 && lambdaOfAlpha(schedule.alphas()[count - 1]) < smallestLambda) {
                count--;
            }
            return count;
        }

        private static float lambdaOfAlpha(float alpha) {
            return (float) Math.log((float) Math.sqrt(alpha)) - (float) Math.log((float) Math.sqrt(1f - alpha));
        }
    }

    private final Setup setup;
    private final float[] timesteps;
    private final float[] sigmas;

    /** Predictions of the clean latents, the latest first. */
    private final Deque<float[]> clean = new ArrayDeque<>();

    private DpmSolver(Setup setup, float[] timesteps, float[] sigmas) {
        this.setup = setup;
        this.timesteps = timesteps;
        this.sigmas = sigmas;
    }

    @Override
    public float[] timesteps() {
        return timesteps.clone();
    }

    @Override
    public float[] noisy(float[] original, float[] noise, int step) {
        return Latents.combine(alpha(step), original, sigma(step), noise);
    }

    @Override
    public float[] step(float[] prediction, float[] latents, int step) {
        int order = Math.min(Math.min(setup.order, clean.size() + 1), highestOrder(step));
        clean.addFirst(cleaned(prediction, latents, step));
        float[] next = switch (order) {
            case 1 -> first(latents, step);
            case 2 -> second(latents, step);
            default -> third(latents, step);
        };
        if (clean.size() == setup.order) {
            clean.removeLast();
        }
        return next;
    }

    /** What the steps that are left allow. */
    private int highestOrder(int step) {
        boolean few = setup.lowerOrderFinal && timesteps.length < FEW_STEPS;
        if (step == timesteps.length - 1 && (setup.eulerAtFinal || few || setup.finalSigma == FinalSigma.ZERO)) {
            return 1;
        }
        return step == timesteps.length - 2 && few ? 2 : 3;
    }

    private float[] cleaned(float[] prediction, float[] latents, int step) {
        float alpha = alpha(step);
        float sigma = sigma(step);
        return switch (setup.prediction) {
            case SAMPLE -> prediction;
            case V_PREDICTION -> Latents.combine(alpha, latents, -sigma, prediction);
            case EPSILON -> {
                float[] values = new float[latents.length];
                for (int i = 0; i < values.length; i++) {
                    values[i] = (latents[i] - sigma * prediction[i]) / alpha;
                }
                yield values;
            }
        };
    }

    private float[] first(float[] latents, int step) {
        float[] m0 = clean.getFirst();
        float keep = sigma(step + 1) / sigma(step);
        float add = alpha(step + 1) * expMinusOne(step);
        return Latents.combine(keep, latents, -add, m0);
    }

    private float[] second(float[] latents, int step) {
        Iterator<float[]> latest = clean.iterator();
        float[] m0 = latest.next();
        float[] m1 = latest.next();
        float h = width(step);
        float inverse = 1f / (width(step - 1) / h);
        float keep = sigma(step + 1) / sigma(step);
        float alpha = alpha(step + 1);
        float add = alpha * expMinusOne(step);
        float bend = setup.heun ? alpha * (expMinusOne(step) / h + 1f) : -(0.5f * add);
        float[] next = new float[latents.length];
        for (int i = 0; i < next.length; i++) {
            float d1 = inverse * (m0[i] - m1[i]);
            next[i] = keep * latents[i] - add * m0[i] + bend * d1;
        }
        return next;
    }

    private float[] third(float[] latents, int step) {
        Iterator<float[]> latest = clean.iterator();
        float[] m0 = latest.next();
        float[] m1 = latest.next();
        float[] m2 = latest.next();
        float h = width(step);
        float r0 = width(step - 1) / h;
        float r1 = width(step - 2) / h;
        float keep = sigma(step + 1) / sigma(step);
        float alpha = alpha(step + 1);
        float exp = expMinusOne(step);
        float add = alpha * exp;
        float bend = alpha * (exp / h + 1f);
        float bend2 = alpha * ((exp + h) / (h * h) - 0.5f);
        float[] next = new float[latents.length];
        for (int i = 0; i < next.length; i++) {
            float near = 1f / r0 * (m0[i] - m1[i]);
            float far = 1f / r1 * (m1[i] - m2[i]);
            float d1 = near + r0 / (r0 + r1) * (near - far);
            float d2 = 1f / (r0 + r1) * (near - far);
            next[i] = keep * latents[i] - add * m0[i] + bend * d1 - bend2 * d2;
        }
        return next;
    }

    private float alpha(int step) {
        return 1f / (float) Math.sqrt(sigmas[step] * sigmas[step] + 1f);
    }

    /** σ of the variance-preserving form. */
    private float sigma(int step) {
        return sigmas[step] * alpha(step);
    }

    /** Half the logarithm of the signal-to-noise ratio. */
    private float lambda(int step) {
        return (float) Math.log(alpha(step)) - (float) Math.log(sigma(step));
    }

    /** A step's width in λ. */
    private float width(int step) {
        return lambda(step + 1) - lambda(step);
    }

    private float expMinusOne(int step) {
        return (float) Math.exp(-width(step)) - 1f;
    }
}
