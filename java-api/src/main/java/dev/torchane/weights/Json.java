package dev.torchane.weights;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The one JSON reader of this package: strict, no duplicate keys, nothing after the value. */
final class Json {

    static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Json() {}

    /** The JSON object in a file. */
    static ObjectNode object(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            JsonNode node = MAPPER.readTree(in);
            if (node instanceof ObjectNode object) {
                return object;
            }
            throw new CheckpointFault.WrongFormat(file, "JSON", "it holds no JSON object").exception();
        } catch (JacksonException e) {
            throw new CheckpointFault.WrongFormat(file, "JSON", e.getOriginalMessage()).exception(e);
        } catch (IOException e) {
            throw new CheckpointFault.Unreadable(file, e.toString()).exception(e);
        }
    }
}
