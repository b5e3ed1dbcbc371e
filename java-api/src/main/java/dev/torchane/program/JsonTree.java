package dev.torchane.program;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as maps, lists, strings, numbers and truth values. It uses the streaming parser only: a run loads it on its way to the
 * first token, and the data-binding classes cost more than the whole file.
 */
final class JsonTree {

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private static final long LARGEST = 64 << 20;

    private JsonTree() {}

    static Map<String, Object> read(Path file) {
        try {
            if (Files.size(file) > LARGEST) {
                throw new TorchAneException(
                        file + " has " + Files.size(file) + " bytes; a manifest has at most " + LARGEST);
            }
            return parse(file.toString(), Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new TorchAneException(file + " is missing: this is no bundle, or its build did not finish", e);
        } catch (IOException e) {
            throw new TorchAneException("cannot read " + file + ": " + e, e);
        }
    }

    static Map<String, Object> parse(String source, String text) {
        try (JsonParser parser = JSON.createParser(text)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new TorchAneException(source + ": expected a JSON object, found "
                        + (parser.currentToken() == null ? "an empty file" : parser.getText()));
            }
            Map<String, Object> object = object(parser);
            if (parser.nextToken() != null) {
                throw new TorchAneException(
                        source + ": expected the end after the JSON object, found " + parser.getText());
            }
            return object;
        } catch (JsonParseException e) {
            throw new TorchAneException(
                    source + ":" + e.getLocation().getLineNr() + ":"
                            + e.getLocation().getColumnNr() + ": not JSON: " + e.getOriginalMessage(),
                    e);
        } catch (IOException e) {
            throw new TorchAneException(source + ": not JSON: " + e.getMessage(), e);
        }
    }

    private static Map<String, Object> object(JsonParser parser) throws IOException {
        Map<String, Object> object = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            parser.nextToken();
            Object value = value(parser);
            if (value != null) {
                object.put(key, value);
            }
        }
        return Collections.unmodifiableMap(object);
    }

    private static List<Object> array(JsonParser parser) throws IOException {
        List<Object> array = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            array.add(value(parser));
        }
        return Collections.unmodifiableList(array);
    }

    /** The value that begins at the current token; null where JSON says null. */
    private static Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> array(parser);
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT -> integer(parser);
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> null;
        };
    }

    private static Number integer(JsonParser parser) throws IOException {
        return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? (Number) parser.getDoubleValue()
                : (Number) parser.getLongValue();
    }
}
