package dev.torchane.text;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntPredicate;

/**
 * A model's tokenizer: the Hugging Face library itself, so that ids are those the model was trained with. Usable from
 * several threads. Lone surrogates in a text are read as U+FFFD.
 */
public final class Tokenizer implements AutoCloseable {

    /** Characters that normalization may turn into one, with a margin: NFC makes one of three at most. */
    private static final int NORMALIZATION = 4;

    private final TokenizersLibrary library;
    private final long handle;
    private final Vocabulary vocabulary;
    private final TokenizerConfig config;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private boolean closed;

    private Tokenizer(TokenizersLibrary library, long handle, Vocabulary vocabulary, TokenizerConfig config) {
        this.library = library;
        this.handle = handle;
        this.vocabulary = vocabulary;
        this.config = config;
    }

    /**
     * Opens the tokenizer of a bundle or of a Hugging Face directory: tokenizer.json and, where they exist,
     * tokenizer_config.json, generation_config.json, config.json and chat_template.jinja. CLIP's vocab.json and merges.txt stand
     * for a tokenizer.json.
     *
     * @throws TorchAneException when there is no tokenizer or it cannot be used
     */
    public static Tokenizer open(Path directory) {
        Path file = TextArguments.given(directory, "directory").resolve("tokenizer.json");
        String json = Files.isRegularFile(file)
                ? text(file)
                : ClipTokenizerFiles.describe(directory).orElseThrow(() -> missing(directory));
        CompletableFuture<Vocabulary> vocabulary = CompletableFuture.supplyAsync(
                () -> Vocabulary.parse(json, file), Thread.ofVirtual().name("vocabulary")::start);
        TokenizersLibrary library = NativeTokenizers.library();
        long handle = create(library, json, file);
        try {
            Vocabulary tokens = vocabulary.join();
            return new Tokenizer(library, handle, tokens, TokenizerConfig.read(directory, tokens));
        } catch (CompletionException e) {
            library.deleteTokenizer(handle);
            throw e.getCause() instanceof TorchAneException cause ? cause : e;
        } catch (RuntimeException e) {
            library.deleteTokenizer(handle);
            throw e;
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }

    private static TorchAneException missing(Path directory) {
        return new TorchAneException(directory + " has no tokenizer.json"
                + (Files.exists(directory.resolve("tokenizer.model"))
                        ? "; a SentencePiece tokenizer.model alone is not read: save the tokenizer again with transformers"
                        : ""));
    }

    private static long create(TokenizersLibrary library, String json, Path file) {
        try {
            long handle = library.createTokenizerFromString(json);
            library.disableTruncation(handle);
            library.disablePadding(handle);
            return handle;
        } catch (RuntimeException e) {
            throw new TorchAneException(file + " is not a usable tokenizer: " + e.getMessage(), e);
        }
    }

    /** One more than the largest id; a model may have more rows than this. */
    public int vocabularySize() {
        return vocabulary.size();
    }

    /** The id of a token as the vocabulary writes it, {@code <|im_end|>}. */
    public OptionalInt id(String token) {
        return vocabulary.id(TextArguments.given(token, "token"));
    }

    /** The token as the vocabulary writes it; empty for an id without one. */
    public String token(int id) {
        return vocabulary.token(id);
    }

    /** Whether the token is a control token, which {@link #decode} leaves out. */
    public boolean isSpecial(int id) {
        return vocabulary.isSpecial(id);
    }

    /** The token that begins a text, when the tokenizer has one. */
    public OptionalInt bos() {
        return config.bos();
    }

    /**
     * Every token that ends a generation: the union of what the model's configuration, its generation configuration and
     * its tokenizer name, and the end of turn that the chat template writes.
     */
    public SortedSet<Integer> ends() {
        return Collections.unmodifiableSortedSet(new TreeSet<>(config.ends()));
    }

    /** The model's chat template, or ChatML when the model has none but has ChatML's tokens. */
    public Optional<ChatTemplate> chatTemplate() {
        return config.chatTemplate();
    }

    /** Ids of a text, with the special tokens that the tokenizer adds around one (BOS, for most models that have it). */
    public int[] encode(String text) {
        return encode(text, true);
    }

    /**
     * Ids of a text. Special tokens written in the text, such as {@code <|im_end|>}, are recognised.
     *
     * @param addSpecialTokens whether to add those that the tokenizer puts around a text
     */
    public int[] encode(String text, boolean addSpecialTokens) {
        String clean = withoutLoneSurrogates(TextArguments.given(text, "text"));
        lock.readLock().lock();
        try {
            checkOpen();
            long encoding = library.encode(handle, clean, addSpecialTokens);
            try {
                return Arrays.stream(library.getTokenIds(encoding))
                        .mapToInt(Math::toIntExact)
                        .toArray();
            } finally {
                library.deleteEncoding(encoding);
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    /**
     * Ids of a rendered chat: BOS stands in front exactly once, whether the template writes it, the tokenizer adds it, or
     * both.
     */
    public int[] encodeChat(String rendered) {
        int[] ids = encode(TextArguments.given(rendered, "rendered"), false);
        OptionalInt bos = bos();
        boolean adds = bos.isPresent() && startsWith(encode("", true), bos.getAsInt());
        if (!adds) {
            return ids;
        }
        int present = 0;
        while (present < ids.length && ids[present] == bos.getAsInt()) {
            present++;
        }
        int[] once = new int[ids.length - present + 1];
        once[0] = bos.getAsInt();
        System.arraycopy(ids, present, once, 1, ids.length - present);
        return once;
    }

    /**
     * A number of tokens that a text of so many characters ({@code char}s) has at least, without encoding it: what the
     * vocabulary's longest token could cover, were normalization to make a quarter of them.
     */
    public int fewestTokens(int characters) {
        return characters / (NORMALIZATION * vocabulary.longest());
    }

    /** Text of ids, without special tokens. */
    public String decode(int... ids) {
        return decode(ids, true);
    }

    /** Text of ids. Bytes that are no UTF-8 become U+FFFD. */
    public String decode(int[] ids, boolean skipSpecialTokens) {
        TextArguments.given(ids, "ids");
        lock.readLock().lock();
        try {
            checkOpen();
            return library.decode(handle, Arrays.stream(ids).asLongStream().toArray(), skipSpecialTokens);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** A decoder for one stream of ids, leaving out special tokens. */
    public IncrementalDecoder incrementalDecoder() {
        return incrementalDecoder(true);
    }

    /** A decoder for one stream of ids. */
    public IncrementalDecoder incrementalDecoder(boolean skipSpecialTokens) {
        return decoder(skipSpecialTokens ? this::isSpecial : id -> false);
    }

    /**
     * A decoder for one stream of ids, leaving out special tokens other than those that {@code format} looks for: a mark such
     * as {@code [TOOL_CALLS]}, or a stop string, may be a special token.
     */
    public IncrementalDecoder incrementalDecoder(OutputFormat format) {
        BitSet kept =
                vocabulary.specialsWithin(TextArguments.given(format, "format").marks());
        return decoder(id -> isSpecial(id) && !kept.get(id));
    }

    private IncrementalDecoder decoder(IntPredicate isLeftOut) {
        List<JsonNode> steps = steps(vocabulary.decoder());
        List<String> types = steps.stream().map(s -> s.path("type").asText()).toList();
        if (types.equals(List.of("ByteLevel"))) {
            return new ByteLevelDecoder(vocabulary, isLeftOut);
        }
        List<String> sentencePiece = List.of("Replace", "ByteFallback", "Fuse");
        if (types.size() >= 3 && types.subList(0, 3).equals(sentencePiece) && replacesSpaces(steps.getFirst())) {
            if (types.size() == 3) {
                return new SentencePieceDecoder(vocabulary, isLeftOut, 0);
            }
            JsonNode strip = steps.get(3);
            if (types.size() == 4
                    && types.get(3).equals("Strip")
                    && strip.path("content").asText().equals(" ")
                    && strip.path("stop").asInt() == 0) {
                return new SentencePieceDecoder(
                        vocabulary, isLeftOut, strip.path("start").asInt());
            }
        }
        return new WindowDecoder(ids ->
                decode(Arrays.stream(ids).filter(id -> !isLeftOut.test(id)).toArray(), false));
    }

    /** What each id adds to a text that has begun, as UTF-8, {@code [vocabularySize][bytes]}; nothing for special tokens. */
    public byte[][] tokenBytes() {
        IncrementalDecoder decoder = incrementalDecoder();
        byte[][] bytes = new byte[vocabularySize()][];
        Arrays.setAll(
                bytes,
                id -> isSpecial(id)
                        ? new byte[0]
                        : switch (decoder) {
                            case ByteLevelDecoder _ -> ByteLevel.bytes(token(id));
                            case SentencePieceDecoder _ -> SentencePieceDecoder.bytes(token(id));
                            case WindowDecoder _ ->
                                decode(id, id).substring(decode(id).length()).getBytes(StandardCharsets.UTF_8);
                        });
        return bytes;
    }

    /** Frees the native tokenizer. Idempotent; any other call afterwards is an {@link IllegalStateException}. */
    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                library.deleteTokenizer(handle);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the tokenizer is closed");
        }
    }

    private static boolean startsWith(int[] ids, int first) {
        return ids.length > 0 && ids[0] == first;
    }

    private static List<JsonNode> steps(JsonNode decoder) {
        if (!decoder.path("type").asText().equals("Sequence")) {
            return List.of(decoder);
        }
        List<JsonNode> steps = new ArrayList<>();
        decoder.path("decoders").forEach(steps::add);
        return steps;
    }

    private static boolean replacesSpaces(JsonNode replace) {
        return replace.path("pattern").path("String").asText().equals("\u2581")
                && replace.path("content").asText().equals(" ");
    }

    static String withoutLoneSurrogates(String text) {
        StringBuilder clean = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isSurrogate(c)) {
                continue;
            }
            boolean paired = Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1));
            if (paired) {
                i++;
            } else {
                if (clean == null) {
                    clean = new StringBuilder(text);
                }
                clean.setCharAt(i, '\uFFFD');
            }
        }
        return clean == null ? text : clean.toString();
    }
}
