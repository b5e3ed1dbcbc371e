package dev.torchane.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.CausalLMOptions;
import dev.torchane.engine.StateStorage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** This library's side of a benchmark: what {@code tools/peers/peer.py} is for the others, with the same requests. */
@Command(name = "bench-worker", hidden = true, description = "Answers the requests of bench.")
public final class WorkerCommand implements Runnable {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Parameters(index = "0", paramLabel = "BUNDLE")
    private Path bundle = Path.of("");

    @Option(names = "--threads")
    private int threads;

    @Option(names = "--kv-cache")
    private StateStorage kvCache = StateStorage.DECLARED;

    /** Made by the command line. */
    public WorkerCommand() {}

    @Override
    public void run() {
        CausalLMOptions options =
                CausalLMOptions.builder().threads(threads).kvCache(kvCache).build();
        PrintStream out = System.out;
        System.setOut(System.err);
        try (OwnModel model = new OwnModel(bundle, options)) {
            out.println(JSON.writeValueAsString(
                    Map.of("ready", "torch-ane, " + model.weights() + ", Java " + Runtime.version())));
            out.flush();
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(JSON.writeValueAsString(answer(model, JSON.readTree(line))));
                out.flush();
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Map<String, ?> answer(OwnModel model, JsonNode request) {
        try {
            int steps = request.path("steps").asInt();
            OwnModel.Measured measured = switch (request.path("work").asText()) {
                case "decode" -> model.decode(ids(request.get("prompt")), steps);
                case "prefill" -> model.prefill(ids(request.get("prompt")));
                case "context" -> model.context(ids(request.get("prompt")), steps);
                case "batch" -> {
                    JsonNode prompts = request.get("prompts");
                    int[][] ids = new int[prompts.size()][];
                    for (int i = 0; i < ids.length; i++) {
                        ids[i] = ids(prompts.get(i));
                    }
                    yield model.batch(ids, steps);
                }
                default ->
                    throw new IllegalArgumentException(
                            "work '" + request.path("work").asText() + "' is not known");
            };
            return Map.of("tokens", measured.tokens(), "seconds", measured.seconds());
        } catch (RuntimeException failure) {
            return Map.of("error", failure.toString());
        }
    }

    private static int[] ids(JsonNode array) {
        int[] ids = new int[array.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = array.get(i).asInt();
        }
        return ids;
    }
}
