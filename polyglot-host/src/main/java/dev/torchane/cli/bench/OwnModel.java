package dev.torchane.cli.bench;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/** The model that is measured, through the public API. */
final class OwnModel implements AutoCloseable {

    /** Tokens that were worked on, and how long it took. */
    record Measured(long tokens, double seconds) {}

    private final Path bundle;
    private final CausalLMOptions options;
    private final CausalLM model;
    /** A second instance, whose context is kept between measurements. */
    private Optional<CausalLM> kept = Optional.empty();

    private int next;

    OwnModel(Path bundle, CausalLMOptions options) {
        this.bundle = bundle;
        this.options = options;
        this.model = CausalLM.open(bundle, options);
    }

    String weights() {
        return model.manifest().options().getOrDefault("weights", "?");
    }

    Measured decode(int[] prompt, int steps) {
        model.reset();
        return steps(model, greedy(model.feed(prompt)), steps);
    }

    private static Measured steps(CausalLM lm, int first, int steps) {
        int token = first;
        long began = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            token = greedy(lm.feed(token));
        }
        return new Measured(steps, (System.nanoTime() - began) / 1e9);
    }

    Measured prefill(int[] prompt) {
        model.reset();
        long began = System.nanoTime();
        model.feed(prompt);
        return new Measured(prompt.length, (System.nanoTime() - began) / 1e9);
    }

    /** Steps behind a long prompt, which is fed the first time only. */
    Measured context(int[] prompt, int steps) {
        CausalLM lm = kept.orElseGet(() -> {
            CausalLM fresh = CausalLM.open(bundle, options);
            next = greedy(fresh.feed(prompt));
            return fresh;
        });
        kept = Optional.of(lm);
        return steps(lm, next, steps);
    }

    /** Rows of one window stand for streams: each step takes as many tokens as there are prompts. */
    Measured batch(int[][] prompts, int steps) {
        model.reset();
        int[] rows = new int[prompts.length];
        Arrays.setAll(rows, i -> prompts[i][0]);
        model.feed(prompts[0]);
        long began = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            model.feed(rows);
        }
        return new Measured((long) steps * rows.length, (System.nanoTime() - began) / 1e9);
    }

    private static int greedy(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        return best;
    }

    @Override
    public void close() {
        kept.ifPresent(CausalLM::close);
        model.close();
    }
}
