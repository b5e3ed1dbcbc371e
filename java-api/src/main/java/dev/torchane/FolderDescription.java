package dev.torchane;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The small JSON file that says what a folder of compiled modules is.
 *
 * @param name of the file
 * @param kind of folder
 * @param format its version
 */
record FolderDescription(String name, String kind, int format) {

    private static final ObjectMapper JSON = new ObjectMapper();

    boolean isIn(Path directory) {
        return Files.isRegularFile(directory.resolve(name));
    }

    /** Begins a description; {@link #write} puts it down. */
    ObjectNode begin() {
        return JSON.createObjectNode().put("format", format).put("kind", kind);
    }

    void write(Path directory, ObjectNode description) {
        Path file = directory.resolve(name);
        try {
            Files.writeString(file, description.toPrettyString() + "\n");
        } catch (IOException e) {
            throw new TorchAneException("cannot write " + file + ": " + e, e);
        }
    }

    /** @throws TorchAneException when it is missing, damaged, or of another kind or format */
    JsonNode read(Path directory) {
        Path file = directory.resolve(name);
        try {
            JsonNode description = JSON.readTree(Files.readString(file));
            int found = description.path("format").asInt();
            String what = description.path("kind").asText();
            if (found != format || !what.equals(kind)) {
                throw new TorchAneException(file + " is a '" + what + "' of format " + found + "; expected a '" + kind
                        + "' of format " + format);
            }
            return description;
        } catch (JacksonException e) {
            throw new TorchAneException(file + " is damaged: it is not JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }
}
