package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** Streams an answer to standard output, then its figures to standard error. */
final class Answer {

    /** Notes when the process started and when the model was ready. */
    static final class Clock {

        private final long processStarted = ManagementFactory.getRuntimeMXBean().getStartTime();
        private final long began = System.nanoTime();

        private double sinceProcessStart() {
            return (System.currentTimeMillis() - processStarted) / 1000.0;
        }

        private double sinceBegan() {
            return (System.nanoTime() - began) / 1e9;
        }
    }

    private Answer() {}

    static Generation print(CausalLM lm, String prompt, boolean raw, int maxTokens, Clock clock) {
        double loaded = clock.sinceBegan();
        AtomicLong firstToken = new AtomicLong();
        double[] firstSinceStart = new double[1];
        Generation generation = lm.generate(
                prompt,
                GenerateOptions.defaults()
                        .withRaw(raw)
                        .withMaxNewTokens(maxTokens)
                        .withOnText(text -> {
                            if (firstToken.compareAndSet(0, System.nanoTime())) {
                                firstSinceStart[0] = clock.sinceProcessStart();
                            }
                            System.out.print(text);
                            System.out.flush();
                        }));
        System.out.println();
        System.err.println(String.format(
                Locale.ROOT,
                "%n%d prompt tokens, %d new, finished by %s%n"
                        + "load %.2f s, first token %.2f s after process start, prefill %.1f tok/s, decode %.1f tok/s",
                generation.stats().promptTokens(),
                generation.stats().newTokens(),
                generation.reason(),
                loaded,
                firstSinceStart[0],
                generation.stats().prefillPerSecond(),
                generation.stats().decodePerSecond()));
        return generation;
    }
}
