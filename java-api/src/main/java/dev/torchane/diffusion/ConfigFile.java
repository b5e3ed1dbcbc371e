package dev.torchane.diffusion;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A JSON object of a pipeline's directory. Python writes infinity into some as {@code -Infinity}. */
final class ConfigFile {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();

    private ConfigFile() {}

    /** @throws TorchAneException when the file is missing, or is no JSON object */
    static ObjectNode read(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new TorchAneException(
                    "there is no " + file + "; expected a Stable Diffusion pipeline as diffusers saves it");
        }
        try {
            if (MAPPER.readTree(Files.readString(file)) instanceof ObjectNode object) {
                return object;
            }
            throw new TorchAneException(file + " is damaged: expected a JSON object");
        } catch (JacksonException e) {
            throw new TorchAneException(file + " is damaged: it is not JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }
}
