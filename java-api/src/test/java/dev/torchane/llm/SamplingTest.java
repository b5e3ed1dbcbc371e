package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SamplingTest {

    /** Probabilities 0.4, 0.3, 0.15, 0.1, 0.05 as logits. */
    private static final float[] LOGITS = logits(0.4, 0.3, 0.15, 0.1, 0.05);

    private static float[] logits(double... probabilities) {
        float[] logits = new float[probabilities.length];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) Math.log(probabilities[i]);
        }
        return logits;
    }

    private static TokenHistory history(int promptSize, int... tokens) {
        return new TokenHistory() {
            @Override
            public int size() {
                return tokens.length;
            }

            @Override
            public int promptSize() {
                return promptSize;
            }

            @Override
            public int at(int position) {
                return tokens[position];
            }
        };
    }

    /** Draws a million times and compares with the expected distribution: chi-square at 4 degrees, 0.1 % level. */
    private static void assertDistribution(Sampling sampling, double... expected) {
        Sampler sampler = sampling.withSeed(7).newSampler();
        int draws = 1_000_000;
        int[] counts = new int[expected.length];
        for (int i = 0; i < draws; i++) {
            counts[sampler.sample(LOGITS.clone(), history(0))]++;
        }
        double chiSquare = 0;
        for (int i = 0; i < expected.length; i++) {
            if (expected[i] == 0) {
                assertEquals(0, counts[i], "token " + i + " is excluded");
            } else {
                double wanted = expected[i] * draws;
                chiSquare += (counts[i] - wanted) * (counts[i] - wanted) / wanted;
            }
        }
        assertTrue(chiSquare < 18.5, "chi-square " + chiSquare);
    }

    @Test
    void a_temperature_of_1_draws_from_the_softmax() {
        assertDistribution(Sampling.temperature(1), 0.4, 0.3, 0.15, 0.1, 0.05);
    }

    @Test
    void a_temperature_of_one_half_squares_the_probabilities() {
        double sum = 0.16 + 0.09 + 0.0225 + 0.01 + 0.0025;
        assertDistribution(Sampling.temperature(0.5), 0.16 / sum, 0.09 / sum, 0.0225 / sum, 0.01 / sum, 0.0025 / sum);
    }

    @Test
    void top_k_keeps_the_k_most_likely() {
        assertDistribution(Sampling.temperature(1).withTopK(2), 4 / 7.0, 3 / 7.0, 0, 0, 0);
    }

    @Test
    void top_p_keeps_the_smallest_set_that_reaches_p() {
        assertDistribution(Sampling.temperature(1).withTopP(0.72), 0.4 / 0.85, 0.3 / 0.85, 0.15 / 0.85, 0, 0);
    }

    @Test
    void min_p_keeps_what_is_likely_enough_beside_the_best() {
        assertDistribution(Sampling.temperature(1).withMinP(0.3), 0.4 / 0.85, 0.3 / 0.85, 0.15 / 0.85, 0, 0);
    }

    @Test
    void typical_keeps_what_surprises_as_much_as_expected() {
        // entropy 1.39; surprises 0.92, 1.20, 1.90, 2.30, 3.00: nearest first 0.30, 0.40, 0.15
        assertDistribution(Sampling.temperature(1).withTypicalP(0.6), 4 / 7.0, 3 / 7.0, 0, 0, 0);
    }

    @Test
    void xtc_excludes_the_top_choices_but_the_least_likely_of_them() {
        assertDistribution(Sampling.temperature(1).withXtc(1, 0.14), 0, 0, 0.5, 0.1 / 0.3, 0.05 / 0.3);
    }

    @Test
    void repetition_divides_positive_and_multiplies_negative_logits_once() {
        float[] logits = {2f, -2f, 1f};
        LogitsSteps.repetition(2).apply(logits, history(1, 0, 1, 0));
        assertArrayEquals(new float[] {1f, -4f, 1f}, logits);
    }

    @Test
    void presence_and_frequency_count_generated_tokens_only() {
        float[] logits = {5f, 5f, 5f};
        LogitsSteps.presenceAndFrequency(1, 0.5f).apply(logits, history(1, 2, 0, 0, 1));
        assertArrayEquals(new float[] {3f, 3.5f, 5f}, logits);
    }

    @Test
    void a_bias_moves_single_tokens_and_names_one_outside_the_vocabulary() {
        Sampler sampler = Sampling.greedy().withBias(Map.of(4, 10f)).newSampler();
        assertEquals(4, sampler.sample(LOGITS.clone(), history(0)));
        Sampler wrong = Sampling.greedy().withBias(Map.of(5, 1f)).newSampler();
        assertThrows(IllegalArgumentException.class, () -> wrong.sample(LOGITS.clone(), history(0)));
    }

    @Test
    void a_step_of_ones_own_runs_last() {
        Sampler sampler = Sampling.greedy()
                .withStep((logits, history) -> logits[0] = Float.NEGATIVE_INFINITY)
                .newSampler();
        assertEquals(1, sampler.sample(LOGITS.clone(), history(0)));
    }

    @Test
    void the_same_seed_gives_the_same_draws() {
        Sampler first = Sampling.temperature(1).withSeed(3).newSampler();
        Sampler second = Sampling.temperature(1).withSeed(3).newSampler();
        for (int i = 0; i < 100; i++) {
            assertEquals(first.sample(LOGITS.clone(), history(0)), second.sample(LOGITS.clone(), history(0)));
        }
    }

    @Test
    void greedy_takes_the_first_of_equals() {
        assertEquals(1, Sampling.greedy().newSampler().sample(new float[] {0, 3, 3}, history(0)));
    }

    @Test
    void what_makes_no_sense_is_refused_by_name() {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> Sampling.greedy().withTopP(0))
                .getMessage();
        assertTrue(message.startsWith("topP must be above 0"), message);
        assertThrows(IllegalArgumentException.class, () -> Sampling.temperature(-1));
        assertThrows(IllegalArgumentException.class, () -> Sampling.temperature(Double.NaN));
    }

    @Test
    void bias_and_penalties_that_make_no_number_are_refused_when_they_are_set() {
        Sampling greedy = Sampling.greedy();
        assertThrows(IllegalArgumentException.class, () -> greedy.withRepetitionPenalty(Double.POSITIVE_INFINITY));
        assertThrows(IllegalArgumentException.class, () -> greedy.withRepetitionPenalty(0));
        assertThrows(IllegalArgumentException.class, () -> greedy.withPenalties(Double.NaN, 0));
        for (float wrong : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
            String message = assertThrows(IllegalArgumentException.class, () -> greedy.withBias(Map.of(7, wrong)))
                    .getMessage();
            assertTrue(message.startsWith("bias of token 7 must be finite"), message);
        }
        Sampler banning =
                greedy.withBias(Map.of(0, Float.NEGATIVE_INFINITY, 1, -3e38f)).newSampler();
        assertEquals(2, banning.sample(LOGITS.clone(), history(0)));
    }

    @Test
    void a_temperature_however_small_takes_the_likeliest_and_however_large_draws_from_all() {
        for (double temperature : new double[] {1e-3, 1e-30, 1e-38, 1e-44}) {
            for (float scale : new float[] {1e30f, 1, -1, -1e30f}) {
                float[] logits = {scale, 2 * scale, scale / 2, 1.5f * scale, Float.NEGATIVE_INFINITY};
                int likeliest = Sampler.argmax(logits);
                Sampling extreme = Sampling.temperature(temperature)
                        .withTopK(1_000_000)
                        .withTopP(1e-30)
                        .withMinP(1)
                        .withTypicalP(1e-30)
                        .withXtc(1, 1e-30)
                        .withSeed(5);
                assertEquals(likeliest, extreme.newSampler().sample(logits, history(0)), temperature + " " + scale);
            }
        }
        assertDistribution(Sampling.temperature(1e30), 0.2, 0.2, 0.2, 0.2, 0.2);
    }

    @Test
    void a_step_that_leaves_no_token_or_makes_no_number_is_an_error_and_never_token_0() {
        for (Sampling sampling : List.of(Sampling.greedy(), Sampling.temperature(1))) {
            for (float wrong : new float[] {Float.NEGATIVE_INFINITY, Float.NaN, Float.POSITIVE_INFINITY}) {
                Sampler sampler = sampling.withStep((logits, history) -> java.util.Arrays.fill(logits, 0, 5, wrong))
                        .newSampler();
                assertThrows(IllegalStateException.class, () -> sampler.sample(LOGITS.clone(), history(0)));
            }
            Sampler one = sampling.withStep((logits, history) -> logits[3] = Float.NaN)
                    .newSampler();
            assertThrows(IllegalStateException.class, () -> one.sample(LOGITS.clone(), history(0)));
        }
    }

    @Test
    void the_first_steps_exclude_before_top_k_counts() {
        Sampler sampler = Sampling.temperature(1)
                .withTopK(1)
                .withSeed(1)
                .newSampler(List.of((logits, history) -> logits[0] = Float.NEGATIVE_INFINITY));
        assertEquals(1, sampler.sample(LOGITS.clone(), history(0)));
    }

    @Test
    void temperature_top_k_top_p_and_min_p_work_on_what_the_one_before_left() {
        // squared and normalised: 0.561, 0.316, 0.079, 0.035, 0.009; of the first three 0.587, 0.330, 0.083
        assertDistribution(
                Sampling.temperature(0.5).withTopK(3).withTopP(0.95).withMinP(0.2), 0.16 / 0.25, 0.09 / 0.25, 0, 0, 0);
    }
}
