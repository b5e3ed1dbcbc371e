package dev.torchane.engine.chunks;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.build.ChunkLimits;
import dev.torchane.program.Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Which programs a model in chunks has, in the order in which they run: {@value #FILE} of its bundle.
 *
 * @param limits that the programs were made for
 * @param chunks of decoder layers
 * @param heads parts of the head; each computes the logits of some rows of the vocabulary
 */
public record ChunkIndex(ChunkLimits limits, List<Part> chunks, List<Part> heads) {

    /** Its name in a bundle. */
    public static final String FILE = "chunks.json";

    private static final int FORMAT = 1;
    private static final ObjectMapper JSON = new ObjectMapper();

    public ChunkIndex {
        chunks = List.copyOf(chunks);
        heads = List.copyOf(heads);
    }

    /**
     * One program.
     *
     * @param path of its bundle, below the model's
     * @param first layer, or row of the head
     * @param count of layers, or of rows
     * @param bytes of its weights as they are stored
     * @param operations of its largest function
     */
    public record Part(String path, int first, int count, long bytes, int operations) {}

    /** Bytes of all weights but the embedding's. */
    public long bytes() {
        return chunks.stream().mapToLong(Part::bytes).sum()
                + heads.stream().mapToLong(Part::bytes).sum();
    }

    /** Whether a bundle's model is in chunks. */
    public static boolean isIn(Bundle bundle) {
        return bundle.file(FILE).isPresent();
    }

    /**
     * The index of a bundle.
     *
     * @throws TorchAneException when it has none, or one that is damaged
     */
    public static ChunkIndex read(Bundle bundle) {
        Path file = bundle.file(FILE)
                .orElseThrow(() -> new TorchAneException("the bundle " + bundle.directory()
                        + " is one program, not chunks: open it with CausalLM.open"));
        try {
            JsonNode root = JSON.readTree(Files.readString(file));
            if (root.path("format").asInt() != FORMAT) {
                throw new TorchAneException(file + " has the format " + root.path("format") + "; this version reads "
                        + FORMAT + ": build the model again");
            }
            JsonNode limits = root.path("limits");
            ChunkIndex index = new ChunkIndex(
                    new ChunkLimits(
                            limits.path("bytes").asLong(),
                            limits.path("layers").asInt(),
                            limits.path("operations").asInt()),
                    parts(root.path("chunks")),
                    parts(root.path("heads")));
            index.requireWhole(file, bundle);
            return index;
        } catch (JacksonException | IllegalArgumentException e) {
            throw new TorchAneException(file + " is damaged: " + e.getMessage() + "; build the model again", e);
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }

    private void requireWhole(Path file, Bundle bundle) {
        require(file, "layers", chunks, bundle.manifest().model().layers());
        require(file, "rows of the head", heads, bundle.manifest().model().vocab());
    }

    private static void require(Path file, String what, List<Part> parts, int all) {
        int next = 0;
        for (Part part : parts) {
            if (part.first() != next || part.count() < 1) {
                throw new TorchAneException(file + ": expected " + what + " from " + next + " on, found " + part);
            }
            next += part.count();
        }
        if (next != all) {
            throw new TorchAneException(file + ": its programs have " + next + " " + what + ", the model has " + all);
        }
    }

    private static List<Part> parts(JsonNode list) {
        List<Part> parts = new ArrayList<>();
        list.forEach(part -> parts.add(new Part(
                part.path("path").asText(),
                part.path("first").asInt(-1),
                part.path("count").asInt(),
                part.path("bytes").asLong(),
                part.path("operations").asInt())));
        return parts;
    }

    /** The file's text. */
    public String text() {
        ObjectNode root = JSON.createObjectNode().put("format", FORMAT);
        root.putObject("limits")
                .put("bytes", limits.bytes())
                .put("layers", limits.layers())
                .put("operations", limits.operations());
        write(root.putArray("chunks"), chunks);
        write(root.putArray("heads"), heads);
        return root.toPrettyString() + "\n";
    }

    private static void write(ArrayNode list, List<Part> parts) {
        for (Part part : parts) {
            list.addObject()
                    .put("path", part.path())
                    .put("first", part.first())
                    .put("count", part.count())
                    .put("bytes", part.bytes())
                    .put("operations", part.operations());
        }
    }
}
