package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.TorchAneException;
import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.StateStorage;
import dev.torchane.host.ScoreBundle;
import dev.torchane.llm.ModelShape;
import dev.torchane.llm.TextScore;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import dev.torchane.program.Manifest;
import dev.torchane.text.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code quality MODEL}. */
@Command(
        name = "quality",
        description = "Prints what each storage of the weights costs: the perplexity on a text, against fp32.",
        mixinStandardHelpOptions = true)
final class QualityCommand implements Runnable {

    private static final String TEXT = "quality.txt";

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "Hugging Face directory, GGUF file or id; or a bundle with fp32 weights.")
    private String model = "";

    @Option(names = "--text", description = "Text to predict, UTF-8; default some pages of English prose.")
    private Optional<Path> text = Optional.empty();

    @Option(names = "--tokens", description = "Tokens of it, at most; default ${DEFAULT-VALUE}.")
    private int tokens = 4000;

    @Option(names = "--context", description = "Tokens of a segment, each predicted anew; default ${DEFAULT-VALUE}.")
    private int context = 1000;

    @Option(
            names = "--weights",
            split = ",",
            description = "Encodings to compare: ${COMPLETION-CANDIDATES}; default all of them.")
    private List<WeightEncoding> encodings = List.of();

    @Option(
            names = "--kv-cache",
            split = ",",
            description = "Storages of keys and values to compare: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private List<StateStorage> kvCaches = List.of(StateStorage.DECLARED);

    @Option(names = "--threads", description = "Worker threads; default the physical cores.")
    private int threads;

    @Override
    public void run() {
        if (tokens < 2 || context < 2) {
            throw new IllegalArgumentException("--tokens and --context must be at least 2, found " + tokens + " and "
                    + context + ": the first token of a segment is not predicted");
        }
        // What a checkpoint stores is not an encoding of its own: its blocks would be int8 here.
        List<WeightEncoding> all = Arrays.stream(WeightEncoding.values())
                .filter(each -> each != WeightEncoding.STORED)
                .toList();
        List<WeightEncoding> wanted = encodings.isEmpty() ? all : encodings;
        Path directory = bundle();
        try (Bundle source = Bundle.open(directory);
                Tokenizer tokenizer = Tokenizer.open(directory)) {
            List<int[]> segments = segments(tokenizer.encode(text()));
            System.out.printf(
                    Locale.ROOT,
                    "%s, %d tokens in %d segments%n%n%-8s %-8s %9s %6s %12s %9s%n",
                    source.manifest().source().name(),
                    segments.stream().mapToInt(each -> each.length).sum(),
                    segments.size(),
                    "weights",
                    "kv cache",
                    "MB",
                    "bits",
                    "perplexity",
                    "to fp32");
            double reference = Double.NaN;
            for (WeightEncoding encoding : wanted) {
                for (StateStorage kvCache : kvCaches) {
                    double perplexity = measure(source, encoding, kvCache, segments, reference);
                    boolean exact = encoding == WeightEncoding.FP32 && kvCache == StateStorage.DECLARED;
                    reference = exact ? perplexity : reference;
                }
            }
        }
    }

    private Path bundle() {
        Path given = Path.of(model);
        if (Files.isRegularFile(given.resolve(Bundle.MANIFEST))) {
            return given;
        }
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            CausalLMOptions options = CausalLMOptions.builder()
                    .weights(WeightEncoding.FP32)
                    .precision(DType.FP32)
                    .maxLen(context)
                    .progress(progress)
                    .build();
            return CausalLM.build(CausalLM.locate(model), options);
        }
    }

    private String text() {
        try {
            if (text.isPresent()) {
                return Files.readString(text.get());
            }
            try (var stream = QualityCommand.class.getResourceAsStream(TEXT)) {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new TorchAneException(
                    "cannot read the text " + text.map(Path::toString).orElse(TEXT) + ": " + e, e);
        }
    }

    private List<int[]> segments(int[] ids) {
        int count = Math.min(tokens, ids.length);
        List<int[]> segments = new ArrayList<>();
        for (int from = 0; from < count - 1; from += context) {
            segments.add(Arrays.copyOfRange(ids, from, Math.min(count, from + context)));
        }
        if (segments.isEmpty()) {
            throw new TorchAneException("the text has " + ids.length + " tokens; at least 2 are needed");
        }
        return segments;
    }

    private double measure(
            Bundle source, WeightEncoding encoding, StateStorage kvCache, List<int[]> segments, double reference) {
        Path directory = temporary();
        try {
            ScoreBundle.write(source, encoding, directory);
            try (Bundle bundle = Bundle.open(directory);
                    LoadedProgram program = Engine.named("jvm")
                            .load(
                                    bundle,
                                    EngineOptions.defaults()
                                            .withThreads(threads)
                                            .withStates(kvCache))) {
                TextScore score = new TextScore(
                        program.function(ScoreBundle.FUNCTION),
                        ModelShape.of(bundle.manifest()),
                        bundle.embedding()::lookup);
                double perplexity = perplexity(score, segments);
                print(encoding, kvCache, bundle.manifest().weights(), perplexity, reference);
                return perplexity;
            }
        } finally {
            delete(directory);
        }
    }

    private static double perplexity(TextScore score, List<int[]> segments) {
        double sum = 0;
        long count = 0;
        for (int[] segment : segments) {
            double[] logprobs = score.logprobs(segment);
            sum += Arrays.stream(logprobs).sum();
            count += logprobs.length;
        }
        return Math.exp(-sum / count);
    }

    private static void print(
            WeightEncoding encoding,
            StateStorage kvCache,
            List<Manifest.Weight> weights,
            double perplexity,
            double reference) {
        long bytes = weights.stream().mapToLong(Manifest.Weight::bytes).sum();
        long elements = weights.stream().mapToLong(WeightTable::elements).sum();
        System.out.printf(
                Locale.ROOT,
                "%-8s %-8s %9.1f %6.2f %12.4f %9s%n",
                encoding.id(),
                kvCache.toString().toLowerCase(Locale.ROOT),
                bytes / 1e6,
                8.0 * bytes / elements,
                perplexity,
                Double.isNaN(reference)
                        ? ""
                        : String.format(Locale.ROOT, "%+.2f %%", 100 * (perplexity / reference - 1)));
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory("torch-ane-quality");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory) {
        try {
            Folders.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
