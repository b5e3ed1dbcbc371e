package dev.torchane.cli.bench;

import dev.torchane.BatchRequest;
import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import dev.torchane.Session;
import dev.torchane.llm.Sampling;
import dev.torchane.text.Tokenizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The model that is measured, through the public API. */
final class OwnModel implements AutoCloseable {

    /** Tokens that were worked on, and how long it took. */
    record Measured(long tokens, double seconds) {}

    /** Tokens of a batch from the moment when every stream has its first. */
    private static final class Counter {

        private final boolean[] begun;
        private int waiting;
        private long began;
        private long tokens;

        Counter(int streams) {
            begun = new boolean[streams];
            waiting = streams;
        }

        void token(int stream) {
            if (waiting == 0) {
                tokens++;
            } else if (!begun[stream]) {
                begun[stream] = true;
                waiting--;
                began = System.nanoTime();
            }
        }
    }

    private final CausalLM model;
    private Optional<Session> kept = Optional.empty();

    OwnModel(Path bundle, CausalLMOptions options) {
        this.model = CausalLM.open(bundle, options);
    }

    String weights() {
        return model.manifest().options().getOrDefault("weights", "?");
    }

    Measured decode(int[] prompt, int steps) {
        model.reset();
        int token = greedy(model.feed(prompt));
        long began = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            token = greedy(model.feed(token));
        }
        return new Measured(steps, (System.nanoTime() - began) / 1e9);
    }

    Measured prefill(int[] prompt) {
        model.reset();
        long began = System.nanoTime();
        model.feed(prompt);
        return new Measured(prompt.length, (System.nanoTime() - began) / 1e9);
    }

    /** Steps behind a long prompt; all but the first time the session still has the prompt. */
    Measured context(int[] prompt, int steps) {
        Session session = kept.orElseGet(model::newSession);
        kept = Optional.of(session);
        Generation generation = session.generate(prompt, endless(steps + 1));
        return new Measured(
                generation.stats().newTokens() - 1, generation.stats().decodeNanos() / 1e9);
    }

    /** A batch, measured from the moment when every stream has its first token. */
    Measured batch(int[][] prompts, int steps) {
        Counter counter = new Counter(prompts.length);
        List<BatchRequest> requests = new ArrayList<>();
        for (int i = 0; i < prompts.length; i++) {
            int stream = i;
            requests.add(BatchRequest.of(
                    prompts[i], endless(prompts.length + steps).withOnToken(token -> counter.token(stream))));
        }
        model.generateBatch(requests);
        return new Measured(counter.tokens, (System.nanoTime() - counter.began) / 1e9);
    }

    /** Greedy, and never at its end before the limit. */
    private GenerateOptions endless(int tokens) {
        Map<Integer, Float> never = new HashMap<>();
        model.manifest().model().eos().forEach(id -> never.put(id, -1e9f));
        model.tokenizer().map(Tokenizer::ends).ifPresent(ends -> ends.forEach(id -> never.put(id, -1e9f)));
        return GenerateOptions.defaults()
                .withMaxNewTokens(tokens)
                .withSampling(Sampling.greedy().withBias(never));
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
        kept.ifPresent(Session::close);
        model.close();
    }
}
