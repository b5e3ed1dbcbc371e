package dev.torchane.acceptance;

import dev.torchane.BatchRequest;
import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import dev.torchane.Session;
import dev.torchane.llm.Sampling;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * A program that generates for long: {@code BUNDLE TOKENS}. The same generations come round again and again, one by one, in a session and as a
 * batch, and must give the same ids each time. Prints a line {@code name value} for each figure.
 */
public final class Soak {

    private static final int FIRST_SECONDS = 60;

    private Soak() {}

    /** Generates at least so many tokens, and in each of the forms at least once. */
    public static void main(String[] arguments) throws IOException {
        long wanted = Long.parseLong(arguments[1]);
        long tokens = 0;
        long began = System.nanoTime();
        long settled = 0;
        CausalLMOptions options = CausalLMOptions.builder().threads(2).build();
        try (CausalLM lm = CausalLM.open(Path.of(arguments[0]), options);
                Session session = lm.newSession()) {
            List<Function<List<BatchRequest>, List<Generation>>> forms = List.of(
                    requests -> each(requests, lm::generate),
                    requests -> each(requests, session::generate),
                    lm::generateBatch);
            List<BatchRequest> requests =
                    IntStream.range(0, 16).mapToObj(i -> request(lm, i)).toList();
            List<List<Integer>> first = List.of();
            for (int round = 0; tokens < wanted || round < forms.size(); round++) {
                List<List<Integer>> ids = forms.get(round % forms.size()).apply(requests).stream()
                        .map(generation ->
                                IntStream.of(generation.ids()).boxed().toList())
                        .toList();
                tokens += ids.stream().mapToInt(List::size).sum();
                first = first.isEmpty() ? ids : first;
                if (!first.equals(ids)) {
                    throw new IllegalStateException("other ids in round " + round + ": " + first + ", then " + ids);
                }
                boolean minute = System.nanoTime() - began > FIRST_SECONDS * 1_000_000_000L;
                if (settled == 0 && (minute || tokens > wanted / 2)) {
                    settled = residentKilobytes();
                }
            }
            System.out.println("tokens " + tokens);
            System.out.println("seconds " + (System.nanoTime() - began) / 1_000_000_000L);
            System.out.println("settled " + settled);
            System.out.println("resident " + residentKilobytes());
            System.out.println("ids " + first.hashCode());
        }
    }

    private static List<Generation> each(
            List<BatchRequest> requests, BiFunction<int[], GenerateOptions, Generation> generate) {
        return requests.stream()
                .map(request -> generate.apply(ids(request.prompt()), request.options()))
                .toList();
    }

    private static int[] ids(BatchRequest.Prompt prompt) {
        return ((BatchRequest.Prompt.Ids) prompt)
                .ids().stream().mapToInt(Integer::intValue).toArray();
    }

    private static BatchRequest request(CausalLM lm, int which) {
        int[] prompt = IntStream.rangeClosed(1, 5 + 9 * which)
                .map(i -> 3 + (i * 7 + which) % 20)
                .toArray();
        Sampling drawn = Sampling.greedy().withTemperature(1.2).withSeed(which);
        Sampling sampling = switch (which % 3) {
            case 0 -> Sampling.greedy();
            case 1 -> drawn;
            default -> drawn.withTopK(12).withRepetitionPenalty(1.1);
        };
        return BatchRequest.of(
                prompt, GenerateOptions.defaults().withMaxNewTokens(lm.maxLen()).withSampling(sampling));
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
