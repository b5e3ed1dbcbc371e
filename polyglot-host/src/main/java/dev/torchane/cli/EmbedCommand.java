package dev.torchane.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.CausalLM;
import dev.torchane.CompileOptions;
import dev.torchane.Embedding;
import dev.torchane.TextEmbedding;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code embed TEXT...}. */
@Command(
        name = "embed",
        description =
                "Turns texts into vectors, one line of JSON for each; a model that is not built yet is built first.",
        mixinStandardHelpOptions = true)
final class EmbedCommand implements Runnable {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Parameters(arity = "0..*", paramLabel = "TEXT", description = "Texts.")
    private List<String> texts = new ArrayList<>();

    @Option(
            names = {"-m", "--model"},
            paramLabel = "MODEL",
            description =
                    "Directory of transformers or sentence-transformers, bundle, or id; default all-MiniLM-L6-v2.")
    private Optional<String> model = Optional.empty();

    @Option(names = "--file", paramLabel = "FILE", description = "A text in each line, UTF-8; - is the standard input.")
    private Optional<Path> file = Optional.empty();

    @Option(names = "--prompt", paramLabel = "NAME", description = "One of the model's prompts, in front of each text.")
    private Optional<String> prompt = Optional.empty();

    @Option(names = "--similarity", description = "Print how close each text is to each other instead of the vectors.")
    private boolean similarity;

    @Mixin
    private CompileFlags compile = new CompileFlags();

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        List<String> all = new ArrayList<>(texts);
        file.ifPresent(each -> all.addAll(lines(each)));
        if (all.isEmpty()) {
            throw new CommandLine.ParameterException(spec.commandLine(), "there is no text: give some, or --file");
        }
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            Path source =
                    model.map(CausalLM::locate).orElseGet(() -> DemoModel.fetchEmbedding(progress.installation()));
            CompileOptions options = compile.options(progress);
            try (TextEmbedding embedding = TextEmbedding.fromPretrained(source, options)) {
                progress.finish();
                if (similarity) {
                    print(all, all.stream().map(text -> embed(embedding, text)).toList());
                } else {
                    all.forEach(text -> System.out.println(line(text, embed(embedding, text))));
                }
            }
        }
    }

    private Embedding embed(TextEmbedding model, String text) {
        Embedding embedding = prompt.isPresent() ? model.embed(text, prompt.get()) : model.embed(text);
        if (embedding.cut() > 0) {
            System.err.println("the last " + embedding.cut() + " of " + (embedding.tokens() + embedding.cut())
                    + " tokens were left out: " + text.substring(0, Math.min(40, text.length())) + "…");
        }
        return embedding;
    }

    private static String line(String text, Embedding embedding) {
        ObjectNode node = JSON.createObjectNode().put("text", text).put("tokens", embedding.tokens());
        ArrayNode vector = node.putArray("embedding");
        for (float value : embedding.vector()) {
            vector.add(value);
        }
        try {
            return JSON.writeValueAsString(node);
        } catch (JsonProcessingException e) {
            throw new TorchAneException("a vector cannot be written as JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static void print(List<String> texts, List<Embedding> embeddings) {
        for (int i = 0; i < texts.size(); i++) {
            StringBuilder row = new StringBuilder();
            for (Embedding other : embeddings) {
                row.append(
                        String.format(Locale.ROOT, "%7.4f ", embeddings.get(i).similarity(other)));
            }
            System.out.println(row + " " + texts.get(i));
        }
    }

    private static List<String> lines(Path file) {
        try {
            String text = file.toString().equals("-")
                    ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                    : Files.readString(file);
            return text.lines().filter(line -> !line.isBlank()).toList();
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }
}
