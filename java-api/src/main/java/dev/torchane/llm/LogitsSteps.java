package dev.torchane.llm;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToDoubleFunction;
import java.util.random.RandomGenerator;

/** The steps that {@link Sampling} is made of. An excluded token has the logit minus infinity. */
final class LogitsSteps {

    private static final float EXCLUDED = Float.NEGATIVE_INFINITY;

    private LogitsSteps() {}

    static LogitsStep bias(Map<Integer, Float> bias) {
        return (logits, history) -> bias.forEach((id, added) -> {
            if (id < 0 || id >= logits.length) {
                throw new IllegalArgumentException(
                        "the logit bias names token " + id + "; the vocabulary has " + logits.length + " entries");
            }
            logits[id] += added;
        });
    }

    static LogitsStep repetition(float penalty) {
        return (logits, history) -> {
            Set<Integer> seen = new HashSet<>();
            for (int i = 0; i < history.size(); i++) {
                int id = history.at(i);
                if (seen.add(id)) {
                    logits[id] = logits[id] > 0 ? logits[id] / penalty : logits[id] * penalty;
                }
            }
        };
    }

    static LogitsStep presenceAndFrequency(float presence, float frequency) {
        return (logits, history) -> {
            Map<Integer, Integer> counts = new HashMap<>();
            for (int i = history.promptSize(); i < history.size(); i++) {
                counts.merge(history.at(i), 1, Integer::sum);
            }
            counts.forEach((id, count) -> logits[id] -= presence + frequency * count);
        };
    }

    static LogitsStep temperature(float temperature) {
        return (logits, history) -> {
            float max = largest(logits);
            // only differences count; where the quotients are too large for a float, those from the largest are taken
            float origin = Float.isFinite(max) && !Float.isFinite(max / temperature) ? max : 0;
            for (int i = 0; i < logits.length; i++) {
                logits[i] = (logits[i] - origin) / temperature;
            }
        };
    }

    static LogitsStep topK(int k) {
        return (logits, history) -> {
            if (k >= logits.length) {
                return;
            }
            float[] sorted = logits.clone();
            Arrays.sort(sorted);
            float threshold = sorted[sorted.length - k];
            int larger = 0;
            for (float logit : logits) {
                larger += logit > threshold ? 1 : 0;
            }
            int ties = k - larger;
            for (int i = 0; i < logits.length; i++) {
                if (logits[i] < threshold || (logits[i] == threshold && ties-- <= 0)) {
                    logits[i] = EXCLUDED;
                }
            }
        };
    }

    static LogitsStep topP(float p) {
        return (logits, history) -> {
            double[] probabilities = softmax(logits);
            keepUntil(logits, probabilities, p, id -> -probabilities[id]);
        };
    }

    static LogitsStep minP(float p) {
        return (logits, history) -> {
            double[] probabilities = softmax(logits);
            double threshold = p * Arrays.stream(probabilities).max().orElse(0);
            for (int i = 0; i < logits.length; i++) {
                if (probabilities[i] < threshold) {
                    logits[i] = EXCLUDED;
                }
            }
        };
    }

    static LogitsStep typical(float p) {
        return (logits, history) -> {
            double[] probabilities = softmax(logits);
            double entropy = 0;
            for (double probability : probabilities) {
                entropy -= probability > 0 ? probability * Math.log(probability) : 0;
            }
            double expected = entropy;
            keepUntil(logits, probabilities, p, id -> Math.abs(-Math.log(probabilities[id]) - expected));
        };
    }

    static LogitsStep xtc(float probability, float threshold, RandomGenerator random) {
        return (logits, history) -> {
            if (random.nextDouble() >= probability) {
                return;
            }
            double[] probabilities = softmax(logits);
            int keep = -1;
            int above = 0;
            for (int i = 0; i < logits.length; i++) {
                if (probabilities[i] >= threshold) {
                    above++;
                    keep = keep < 0 || probabilities[i] < probabilities[keep] ? i : keep;
                }
            }
            if (above < 2) {
                return;
            }
            for (int i = 0; i < logits.length; i++) {
                if (i != keep && probabilities[i] >= threshold) {
                    logits[i] = EXCLUDED;
                }
            }
        };
    }

    /** Draws a token from the softmax of the logits. */
    static int draw(float[] logits, RandomGenerator random) {
        double[] probabilities = softmax(logits);
        double rest = random.nextDouble();
        int last = -1;
        for (int i = 0; i < probabilities.length; i++) {
            if (probabilities[i] > 0) {
                last = i;
                rest -= probabilities[i];
                if (rest < 0) {
                    return i;
                }
            }
        }
        return last;
    }

    /** Keeps tokens in the given order, the smallest first, until their probabilities reach {@code p}; excluded ones stay so. */
    private static void keepUntil(float[] logits, double[] probabilities, float p, IntToDoubleFunction order) {
        double[] keys = new double[logits.length];
        Arrays.setAll(keys, id -> probabilities[id] > 0 ? order.applyAsDouble(id) : Double.NaN);
        SmallestFirst rest = new SmallestFirst(keys);
        for (double reached = 0; reached < p && rest.size() > 0; ) {
            reached += probabilities[rest.take()];
        }
        for (int i = 0; i < rest.size(); i++) {
            logits[rest.left(i)] = EXCLUDED;
        }
    }

    /**
     * Checks what the steps have left to choose from.
     *
     * @param largest of the logits, NaN when one of them is
     */
    static void requireChoice(float largest) {
        if (largest == EXCLUDED) {
            throw new IllegalStateException("every token is excluded: a sampling step or a bias leaves none to choose");
        }
        if (!Float.isFinite(largest)) {
            throw new IllegalStateException("a sampling step or a bias made a logit " + largest
                    + ": logits must be finite, or minus infinity for a token that is excluded");
        }
    }

    static float largest(float[] logits) {
        float max = EXCLUDED;
        for (float logit : logits) {
            max = Math.max(max, logit);
        }
        return max;
    }

    private static double[] softmax(float[] logits) {
        float max = largest(logits);
        requireChoice(max);
        double[] probabilities = new double[logits.length];
        double sum = 0;
        for (int i = 0; i < logits.length; i++) {
            probabilities[i] = logits[i] == EXCLUDED ? 0 : Math.exp(logits[i] - max);
            sum += probabilities[i];
        }
        for (int i = 0; i < logits.length; i++) {
            probabilities[i] /= sum;
        }
        return probabilities;
    }
}
