package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import dev.torchane.GenerationException;
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

    static Generation print(CausalLM lm, String prompt, GenerateOptions options, Clock clock) {
        double loaded = clock.sinceBegan();
        AtomicLong firstToken = new AtomicLong();
        double[] firstSinceStart = new double[1];
        try (StopOnCtrlC ctrlC = new StopOnCtrlC()) {
            Generation generation = lm.generate(
                    prompt, options.withCancellation(ctrlC.cancellation()).withOnText(text -> {
                        if (firstToken.compareAndSet(0, System.nanoTime())) {
                            firstSinceStart[0] = clock.sinceProcessStart();
                        }
                        System.out.print(text);
                        System.out.flush();
                    }));
            figures(generation, loaded, firstSinceStart[0]);
            return generation;
        } catch (GenerationException failure) {
            System.out.println();
            throw failure;
        }
    }

    private static void figures(Generation generation, double loaded, double firstSinceStart) {
        System.out.println();
        System.err.println(String.format(
                Locale.ROOT,
                "%n%d prompt tokens, %d new, finished by %s%n"
                        + "load %.2f s, first token %.2f s after process start, prefill %.1f tok/s, decode %.1f tok/s",
                generation.stats().promptTokens(),
                generation.stats().newTokens(),
                generation.reason(),
                loaded,
                firstSinceStart,
                generation.stats().prefillPerSecond(),
                generation.stats().decodePerSecond()));
    }
}
