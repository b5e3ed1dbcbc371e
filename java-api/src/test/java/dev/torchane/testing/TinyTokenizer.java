package dev.torchane.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A byte-level BPE tokenizer of 272 tokens: three special ones (ChatML's), the 256 bytes, a few merges. Same vocabulary
 * as tokenizer.json and as GGUF metadata.
 */
public final class TinyTokenizer {

    /** Number of tokens. */
    public static final int SIZE = 272;

    /** Ids of the special tokens. */
    public static final int UNKNOWN = 0;

    public static final int START = 1;
    public static final int END = 2;

    private static final List<String> SPECIAL = List.of("<|endoftext|>", "<|im_start|>", "<|im_end|>");
    private static final List<String> MERGES =
            List.of("Ġ t", "h e", "Ġt he", "Ġ a", "i n", "e r", "o n", "l l", "Ġ w", "Ġw o", "r l", "rl d", "Ġwo rld");
    private static final String CHATML = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n'"
            + " + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
            + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

    private TinyTokenizer() {}

    /** The tokens in the order of their ids. */
    public static List<String> tokens() {
        List<String> tokens = new ArrayList<>(SPECIAL);
        for (int b = 0; b < 256; b++) {
            tokens.add(byteToken(b));
        }
        for (String merge : MERGES) {
            tokens.add(merge.replace(" ", ""));
        }
        return tokens;
    }

    /** Writes tokenizer.json and tokenizer_config.json (with a ChatML template). */
    public static void write(Path directory) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        root.put("version", "1.0");
        for (int id = 0; id < SPECIAL.size(); id++) {
            root.withArrayProperty("added_tokens")
                    .addObject()
                    .put("id", id)
                    .put("content", SPECIAL.get(id))
                    .put("single_word", false)
                    .put("lstrip", false)
                    .put("rstrip", false)
                    .put("normalized", false)
                    .put("special", true);
        }
        root.putObject("pre_tokenizer")
                .put("type", "ByteLevel")
                .put("add_prefix_space", false)
                .put("trim_offsets", true)
                .put("use_regex", true);
        root.putObject("decoder")
                .put("type", "ByteLevel")
                .put("add_prefix_space", false)
                .put("trim_offsets", true)
                .put("use_regex", true);
        ObjectNode model = root.putObject("model").put("type", "BPE");
        ObjectNode vocabulary = model.putObject("vocab");
        List<String> tokens = tokens();
        for (int id = 0; id < tokens.size(); id++) {
            vocabulary.put(tokens.get(id), id);
        }
        MERGES.forEach(model.putArray("merges")::add);
        Files.writeString(directory.resolve("tokenizer.json"), root.toPrettyString());
        ObjectNode config = mapper.createObjectNode();
        config.put("tokenizer_class", "PreTrainedTokenizerFast");
        config.put("bos_token", SPECIAL.get(START));
        config.put("eos_token", SPECIAL.get(END));
        config.put("unk_token", SPECIAL.get(UNKNOWN));
        config.put("add_bos_token", false);
        config.put("chat_template", CHATML);
        Files.writeString(directory.resolve("tokenizer_config.json"), config.toPrettyString());
    }

    /** The same as GGUF metadata. */
    static void describe(GgufWriter writer) {
        List<Integer> types = new ArrayList<>();
        for (int id = 0; id < SIZE; id++) {
            types.add(id < SPECIAL.size() ? 3 : 1);
        }
        writer.string("tokenizer.ggml.model", "gpt2")
                .string("tokenizer.ggml.pre", "gpt-2")
                .strings("tokenizer.ggml.tokens", tokens())
                .int32s("tokenizer.ggml.token_type", types)
                .strings("tokenizer.ggml.merges", MERGES)
                .uint32("tokenizer.ggml.bos_token_id", START)
                .uint32("tokenizer.ggml.eos_token_id", END)
                .uint32("tokenizer.ggml.unknown_token_id", UNKNOWN)
                .bool("tokenizer.ggml.add_bos_token", false)
                .string("tokenizer.chat_template", CHATML);
    }

    /** The character that stands for a byte in byte-level BPE. */
    private static String byteToken(int b) {
        if (isPrintable(b)) {
            return String.valueOf((char) b);
        }
        int position = 0;
        for (int other = 0; other < b; other++) {
            position += isPrintable(other) ? 0 : 1;
        }
        return String.valueOf((char) (256 + position));
    }

    private static boolean isPrintable(int b) {
        return b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE && b <= 0xFF;
    }
}
