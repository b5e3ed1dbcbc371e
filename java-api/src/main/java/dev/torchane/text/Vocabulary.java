package dev.torchane.text;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** The tokens of a tokenizer.json, which of them are special, and how their texts are joined. */
final class Vocabulary {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    /** Token names are read once each: interning and canonicalising them would only cost. */
    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build()
            .setCodec(MAPPER);

    private static final int MAX_ID = 1 << 24;

    private String[] tokens = new String[1 << 16];
    private int size;
    private int longest = 1;
    private final Map<String, Integer> ids = new HashMap<>(1 << 17);
    private final BitSet special = new BitSet();
    private JsonNode decoder = MAPPER.nullNode();
    private boolean hasAddedTokens;
    private boolean hasDecoder;

    private Vocabulary() {}

    /**
     * Reads model.vocab, added_tokens and decoder of a tokenizer.json, and skips the rest.
     *
     * @throws TorchAneException when it is not one
     */
    static Vocabulary parse(String json, Object source) {
        Vocabulary vocabulary = new Vocabulary();
        try (JsonParser parser = FACTORY.createParser(json)) {
            vocabulary.read(parser);
        } catch (IOException e) {
            throw new TorchAneException(source + " is not a tokenizer: " + e.getMessage(), e);
        }
        if (vocabulary.size == 0) {
            throw new TorchAneException(source + " is not a tokenizer: it has no model.vocab");
        }
        return vocabulary;
    }

    /** One more than the largest id. */
    int size() {
        return size;
    }

    /** Length of the longest token, at least 1; of a byte-level vocabulary in bytes, else in {@code char}s. */
    int longest() {
        return longest;
    }

    /** The token as the vocabulary writes it; empty for an id without one. */
    String token(int id) {
        return id >= 0 && id < size && tokens[id] != null ? tokens[id] : "";
    }

    OptionalInt id(String token) {
        Integer id = ids.get(token);
        return id == null ? OptionalInt.empty() : OptionalInt.of(id);
    }

    boolean isSpecial(int id) {
        return id >= 0 && special.get(id);
    }

    /** The special tokens that stand in one of these texts. */
    BitSet specialsWithin(List<String> texts) {
        BitSet found = new BitSet();
        special.stream()
                .filter(id -> !token(id).isEmpty() && texts.stream().anyMatch(text -> text.contains(token(id))))
                .forEach(found::set);
        return found;
    }

    /** The decoder's description; null node when there is none. */
    JsonNode decoder() {
        return decoder;
    }

    private void read(JsonParser parser) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new IOException("expected a JSON object");
        }
        boolean complete = false;
        while (!complete && parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            parser.nextToken();
            switch (field) {
                case "added_tokens" -> {
                    addedTokens(MAPPER.readTree(parser));
                    hasAddedTokens = true;
                }
                case "decoder" -> {
                    decoder = MAPPER.readTree(parser);
                    hasDecoder = true;
                }
                case "model" -> complete = model(parser);
                default -> parser.skipChildren();
            }
        }
    }

    /** Reads the model; returns whether everything of interest has been seen, so that the merges need not be read. */
    private boolean model(JsonParser parser) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            boolean vocabulary = parser.currentName().equals("vocab");
            JsonToken start = parser.nextToken();
            if (!vocabulary) {
                parser.skipChildren();
                continue;
            }
            if (start == JsonToken.START_OBJECT) {
                tokensByName(parser);
            } else if (start == JsonToken.START_ARRAY) {
                tokensInOrder(parser);
            }
            if (hasAddedTokens && hasDecoder) {
                return true;
            }
        }
        return false;
    }

    private void tokensByName(JsonParser parser) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String token = parser.currentName();
            parser.nextToken();
            put(parser.getIntValue(), token);
        }
    }

    private void tokensInOrder(JsonParser parser) throws IOException {
        for (int id = 0; parser.nextToken() == JsonToken.START_ARRAY; id++) {
            parser.nextToken();
            put(id, parser.getText());
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                parser.skipChildren();
            }
        }
    }

    private void addedTokens(JsonNode added) throws IOException {
        for (JsonNode token : added) {
            int id = token.path("id").asInt(-1);
            put(id, token.path("content").asText());
            if (token.path("special").asBoolean()) {
                special.set(id);
            }
        }
    }

    private void put(int id, String token) throws IOException {
        if (id < 0 || id > MAX_ID) {
            throw new IOException("token '" + token + "' has id " + id + ", expected 0 to " + MAX_ID);
        }
        if (id >= tokens.length) {
            tokens = Arrays.copyOf(tokens, Math.max(id + 1, tokens.length * 2));
        }
        tokens[id] = token;
        ids.put(token, id);
        size = Math.max(size, id + 1);
        longest = Math.max(longest, token.length());
    }
}
