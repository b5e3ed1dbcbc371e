package dev.torchane.acceptance;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.llm.Sampling;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A program that generates for long: {@code BUNDLE TOKENS}. The same few generations come round again and again and must give the same
 * ids each time. Prints a line {@code name value} for each figure.
 */
public final class Soak {

    private static final int GENERATIONS = 16;
    private static final int FIRST_SECONDS = 60;

    private Soak() {}

    /** Generates at least so many tokens, and each of the generations at least once. */
    public static void main(String[] arguments) throws IOException {
        long wanted = Long.parseLong(arguments[1]);
        Map<Integer, int[]> first = new HashMap<>();
        long tokens = 0;
        long began = System.nanoTime();
        long settled = 0;
        try (CausalLM lm = CausalLM.open(
                Path.of(arguments[0]), CausalLMOptions.builder().threads(2).build())) {
            for (int round = 0; tokens < wanted || round < GENERATIONS; round++) {
                int which = round % GENERATIONS;
                int[] ids = generate(lm, which);
                tokens += ids.length;
                int[] before = first.putIfAbsent(which, ids);
                if (before != null && !Arrays.equals(before, ids)) {
                    throw new IllegalStateException("generation " + which + " gave other ids in round " + round);
                }
                if (settled == 0
                        && (System.nanoTime() - began > FIRST_SECONDS * 1_000_000_000L || tokens > wanted / 2)) {
                    settled = residentKilobytes();
                }
            }
            System.gc();
            System.out.println("tokens " + tokens);
            System.out.println("seconds " + (System.nanoTime() - began) / 1_000_000_000L);
            System.out.println("settled " + settled);
            System.out.println("resident " + residentKilobytes());
            System.out.println("ids "
                    + IntStream.range(0, GENERATIONS)
                            .mapToObj(first::get)
                            .map(Arrays::hashCode)
                            .toList());
        }
    }

    private static int[] generate(CausalLM lm, int which) {
        int[] prompt = IntStream.rangeClosed(1, 5 + 9 * which)
                .map(i -> 3 + (i * 7 + which) % 20)
                .toArray();
        Sampling sampling = which % 4 == 0
                ? Sampling.greedy()
                : Sampling.greedy().withTemperature(1.2).withSeed(which);
        GenerateOptions options = GenerateOptions.defaults()
                .withMaxNewTokens(lm.maxLen())
                .withSampling(which % 2 == 0 ? sampling : sampling.withTopK(12).withRepetitionPenalty(1.1));
        return lm.generate(prompt, options).ids();
    }

    /** Memory of this process, from the operating system. */
    private static long residentKilobytes() throws IOException {
        System.gc();
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }
}
