package dev.torchane.llm;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * How tokens are chosen: a chain of steps over the logits, then a draw. The steps run in this order, each only when it is set:
 * a grammar, logit bias, repetition penalty, presence and frequency penalties, temperature, top-k, top-p, min-p, typical, XTC, the
 * caller's own steps. Temperature 0 takes the most likely token after the steps before it, exactly.
 *
 * @param temperature divides the logits; 0 is greedy
 * @param topK keeps the k most likely tokens; 0 keeps all
 * @param topP keeps the smallest set of most likely tokens whose probabilities reach p; 1 keeps all (Holtzman et al., 2019)
 * @param minP keeps tokens at least minP times as likely as the most likely one; 0 keeps all (Nguyen et al., 2024)
 * @param typicalP keeps the tokens whose surprise is nearest the entropy until their probabilities reach p; 1 keeps all (Meister
 *     et al., 2022)
 * @param xtcProbability chance of a step that excludes the top choices; 0 never does
 * @param xtcThreshold with XTC, tokens at least this likely are excluded, all but the least likely of them
 * @param repetitionPenalty divides positive and multiplies negative logits of tokens that occurred; 1 changes nothing (Keskar et
 *     al., 2019)
 * @param presencePenalty subtracted from the logits of tokens that were generated
 * @param frequencyPenalty subtracted as often as the token was generated
 * @param bias added to the logits of single tokens
 * @param seed of the draw; without one each sampler takes a fresh seed
 * @param own further steps
 */
public record Sampling(
        float temperature,
        int topK,
        float topP,
        float minP,
        float typicalP,
        float xtcProbability,
        float xtcThreshold,
        float repetitionPenalty,
        float presencePenalty,
        float frequencyPenalty,
        Map<Integer, Float> bias,
        OptionalLong seed,
        List<LogitsStep> own) {

    public Sampling {
        require(temperature >= 0 && temperature <= Float.MAX_VALUE, "temperature", temperature, "0 or more");
        require(topK >= 0, "topK", topK, "0 (all) or more");
        require(topP > 0 && topP <= 1, "topP", topP, "above 0 and at most 1");
        require(minP >= 0 && minP <= 1, "minP", minP, "from 0 to 1");
        require(typicalP > 0 && typicalP <= 1, "typicalP", typicalP, "above 0 and at most 1");
        require(xtcProbability >= 0 && xtcProbability <= 1, "xtcProbability", xtcProbability, "from 0 to 1");
        require(xtcThreshold > 0 && xtcThreshold <= 1, "xtcThreshold", xtcThreshold, "above 0 and at most 1");
        require(
                repetitionPenalty > 0 && repetitionPenalty <= Float.MAX_VALUE,
                "repetitionPenalty",
                repetitionPenalty,
                "above 0 and finite");
        require(Float.isFinite(presencePenalty), "presencePenalty", presencePenalty, "finite");
        require(Float.isFinite(frequencyPenalty), "frequencyPenalty", frequencyPenalty, "finite");
        bias.forEach((id, added) -> require(
                added <= Float.MAX_VALUE,
                "bias of token " + id,
                added,
                "finite, or minus infinity to exclude the token"));
        bias = Collections.unmodifiableMap(new LinkedHashMap<>(bias));
        own = List.copyOf(own);
    }

    private static void require(boolean fine, String name, float found, String wanted) {
        if (!fine) {
            throw new IllegalArgumentException(name + " must be " + wanted + ", found " + found);
        }
    }

    /** The most likely token, always. */
    public static Sampling greedy() {
        return new Sampling(0, 0, 1, 0, 1, 0, 0.1f, 1, 0, 0, Map.of(), OptionalLong.empty(), List.of());
    }

    /** A draw at a temperature, from all tokens. */
    public static Sampling temperature(double value) {
        return greedy().withTemperature(value);
    }

    public Sampling withTemperature(double value) {
        return with(draft -> draft.temperature = (float) value);
    }

    public Sampling withTopK(int k) {
        return with(draft -> draft.topK = k);
    }

    public Sampling withTopP(double p) {
        return with(draft -> draft.topP = (float) p);
    }

    public Sampling withMinP(double p) {
        return with(draft -> draft.minP = (float) p);
    }

    public Sampling withTypicalP(double p) {
        return with(draft -> draft.typicalP = (float) p);
    }

    public Sampling withXtc(double probability, double threshold) {
        return with(draft -> {
            draft.xtcProbability = (float) probability;
            draft.xtcThreshold = (float) threshold;
        });
    }

    public Sampling withRepetitionPenalty(double penalty) {
        return with(draft -> draft.repetitionPenalty = (float) penalty);
    }

    public Sampling withPenalties(double presence, double frequency) {
        return with(draft -> {
            draft.presencePenalty = (float) presence;
            draft.frequencyPenalty = (float) frequency;
        });
    }

    public Sampling withBias(Map<Integer, Float> added) {
        return with(draft -> draft.bias = added);
    }

    public Sampling withSeed(long value) {
        return with(draft -> draft.seed = OptionalLong.of(value));
    }

    /** Adds a step behind the others. */
    public Sampling withStep(LogitsStep step) {
        List<LogitsStep> more = new ArrayList<>(own);
        more.add(step);
        return with(draft -> draft.own = more);
    }

    /** The same, with what {@code change} sets. */
    private Sampling with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.sampling();
    }

    /** A copy that can be changed, so that each option is named once where it is set. */
    private static final class Draft {

        private float temperature;
        private int topK;
        private float topP;
        private float minP;
        private float typicalP;
        private float xtcProbability;
        private float xtcThreshold;
        private float repetitionPenalty;
        private float presencePenalty;
        private float frequencyPenalty;
        private Map<Integer, Float> bias;
        private OptionalLong seed;
        private List<LogitsStep> own;

        Draft(Sampling from) {
            temperature = from.temperature;
            topK = from.topK;
            topP = from.topP;
            minP = from.minP;
            typicalP = from.typicalP;
            xtcProbability = from.xtcProbability;
            xtcThreshold = from.xtcThreshold;
            repetitionPenalty = from.repetitionPenalty;
            presencePenalty = from.presencePenalty;
            frequencyPenalty = from.frequencyPenalty;
            bias = from.bias;
            seed = from.seed;
            own = from.own;
        }

        Sampling sampling() {
            return new Sampling(
                    temperature,
                    topK,
                    topP,
                    minP,
                    typicalP,
                    xtcProbability,
                    xtcThreshold,
                    repetitionPenalty,
                    presencePenalty,
                    frequencyPenalty,
                    bias,
                    seed,
                    own);
        }
    }

    /** A sampler for one generation. */
    public Sampler newSampler() {
        return newSampler(List.of());
    }

    /**
     * A sampler for one generation with steps that run before all others: those that exclude what must not come, such as a
     * grammar, so that top-k and its like choose among the tokens that are left.
     */
    public Sampler newSampler(List<LogitsStep> first) {
        RandomGenerator random = RandomGeneratorFactory.of("Xoshiro256PlusPlus")
                .create(seed.orElseGet(() -> new java.security.SecureRandom().nextLong()));
        List<LogitsStep> steps = new ArrayList<>(first);
        if (!bias.isEmpty()) {
            steps.add(LogitsSteps.bias(bias));
        }
        if (repetitionPenalty != 1) {
            steps.add(LogitsSteps.repetition(repetitionPenalty));
        }
        if (presencePenalty != 0 || frequencyPenalty != 0) {
            steps.add(LogitsSteps.presenceAndFrequency(presencePenalty, frequencyPenalty));
        }
        if (temperature > 0) {
            addDrawSteps(steps, random);
        }
        steps.addAll(own);
        return (logits, history) -> {
            for (LogitsStep step : steps) {
                step.apply(logits, history);
            }
            if (temperature > 0) {
                return LogitsSteps.draw(logits, random);
            }
            LogitsSteps.requireChoice(LogitsSteps.largest(logits));
            return Sampler.argmax(logits);
        };
    }

    private void addDrawSteps(List<LogitsStep> steps, RandomGenerator random) {
        if (temperature != 1) {
            steps.add(LogitsSteps.temperature(temperature));
        }
        if (topK > 0) {
            steps.add(LogitsSteps.topK(topK));
        }
        if (topP < 1) {
            steps.add(LogitsSteps.topP(topP));
        }
        if (minP > 0) {
            steps.add(LogitsSteps.minP(minP));
        }
        if (typicalP < 1) {
            steps.add(LogitsSteps.typical(typicalP));
        }
        if (xtcProbability > 0) {
            steps.add(LogitsSteps.xtc(xtcProbability, xtcThreshold, random));
        }
    }
}
