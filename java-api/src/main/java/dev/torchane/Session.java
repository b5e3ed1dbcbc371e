package dev.torchane;

import dev.torchane.llm.DraftModel;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.GenerationLoop;
import dev.torchane.llm.KvState;
import dev.torchane.llm.LanguageModel;
import dev.torchane.llm.Proposals;
import dev.torchane.text.ChatMessage;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A conversation with a context of its own. What the next turn has in common with what was computed before is not computed again;
 * the answers are those that a model without a memory would give. A session is made by {@link CausalLM#newSession()}, shares the
 * loaded model with others, and serves one call at a time; different sessions may be used from different threads.
 *
 * <pre>{@code
 * try (Session session = lm.newSession()) {
 *     session.generate("What is the capital of France?", GenerateOptions.defaults());
 *     session.generate("And how many people live there?", GenerateOptions.defaults());
 * }
 * }</pre>
 */
public final class Session implements AutoCloseable {

    /**
     * What sessions of a model have in common.
     *
     * @param fingerprint of the model and how it was built, for saved states
     */
    record Shared(LanguageModel model, ModelText text, Sessions sessions, SortedMap<String, String> fingerprint) {}

    private final Shared shared;
    private final KvState state;
    private final OneCallAtATime calls;
    private final GenerationForms forms;
    /** Every token so far, the last of which may not be computed yet. */
    private volatile int[] context;

    private volatile List<ChatMessage> messages;

    private Session(Shared shared, KvState state, int[] context, List<ChatMessage> messages) {
        this.shared = shared;
        this.state = state;
        this.context = context;
        this.messages = messages;
        this.calls = new OneCallAtATime("session", shared.sessions()::release);
        this.forms = new GenerationForms(calls);
        try {
            shared.sessions().add(this);
        } catch (IllegalStateException closed) {
            state.close();
            throw closed;
        }
    }

    static Session begin(Shared shared) {
        return new Session(shared, shared.model().newState(), new int[0], List.of());
    }

    static Session restore(Shared shared, Path file) {
        LanguageModel.Restored restored = shared.model().restore(file, shared.fingerprint());
        try {
            ByteBuffer attached = ByteBuffer.wrap(restored.attachment());
            int[] context = new int[Math.min(attached.getInt(), attached.remaining() / Integer.BYTES + 1)];
            attached.asIntBuffer().get(context);
            attached.position(attached.position() + Integer.BYTES * context.length);
            String chat = StandardCharsets.UTF_8.decode(attached).toString();
            return new Session(shared, restored.state(), context, ChatMessage.fromJson(chat));
        } catch (BufferUnderflowException | NegativeArraySizeException | IllegalArgumentException e) {
            restored.state().close();
            throw new TorchAneException(file + " holds a state, but not that of a session", e);
        }
    }

    /**
     * Goes on with the chat: the message is the next of the user's, and the answer, as far as it came, is kept as the model's. With {@link
     * GenerateOptions#withRaw} the text is put behind all tokens so far as it stands.
     *
     * @throws TorchAneException when the model has no tokenizer, or no chat template and the options are not raw
     * @throws IllegalArgumentException when there are no tokens
     * @throws dev.torchane.llm.ContextOverflowException when the whole conversation is longer than the context; the session is then as
     *     it was
     * @throws GenerationException when it fails on its way; {@link #messages()} are then as they were
     * @throws IllegalStateException after {@link #close()} of this session or its model, or while another call of it runs
     */
    public Generation generate(String message, GenerateOptions options) {
        return forms.await(Arguments.given(options, "options"), turn(message));
    }

    /** Goes on with a chat that is given whole, whatever came before; it may be an edited {@link #messages()}. */
    public Generation generate(List<ChatMessage> chat, GenerateOptions options) {
        return forms.await(Arguments.given(options, "options"), turn(chat));
    }

    /** Goes on with a context that is given whole, in ids; {@link #messages()} are none from then on. */
    public Generation generate(int[] ids, GenerateOptions options) {
        return forms.await(Arguments.given(options, "options"), turn(ids));
    }

    /** As {@link #generate(String, GenerateOptions)}, in the background; as {@link CausalLM#generateAsync(String, GenerateOptions)}. */
    public CompletableFuture<Generation> generateAsync(String message, GenerateOptions options) {
        return forms.background(Arguments.given(options, "options"), turn(message));
    }

    /** As {@link #generate(List, GenerateOptions)}, in the background. */
    public CompletableFuture<Generation> generateAsync(List<ChatMessage> chat, GenerateOptions options) {
        return forms.background(Arguments.given(options, "options"), turn(chat));
    }

    /** As {@link #generate(int[], GenerateOptions)}, in the background. */
    public CompletableFuture<Generation> generateAsync(int[] ids, GenerateOptions options) {
        return forms.background(Arguments.given(options, "options"), turn(ids));
    }

    /** As {@link #generate(String, GenerateOptions)}, pulled token by token; as {@link CausalLM#stream(String, GenerateOptions)}. */
    public Stream<Token> stream(String message, GenerateOptions options) {
        return forms.stream(Arguments.given(options, "options"), turn(message));
    }

    /** As {@link #generate(List, GenerateOptions)}, pulled token by token. */
    public Stream<Token> stream(List<ChatMessage> chat, GenerateOptions options) {
        return forms.stream(Arguments.given(options, "options"), turn(chat));
    }

    /** As {@link #generate(int[], GenerateOptions)}, pulled token by token. */
    public Stream<Token> stream(int[] ids, GenerateOptions options) {
        return forms.stream(Arguments.given(options, "options"), turn(ids));
    }

    private Function<GenerateOptions, GenerationRun.Drive> turn(String message) {
        Arguments.given(message, "message");
        return options -> {
            if (options.raw()) {
                int[] more = shared.text().encodeRaw(message, context.length == 0);
                return drive(joined(context, more), options, _ -> messages);
            }
            List<ChatMessage> chat = new ArrayList<>(messages);
            chat.add(ChatMessage.user(message));
            return turn(chat).apply(options);
        };
    }

    private Function<GenerateOptions, GenerationRun.Drive> turn(List<ChatMessage> chat) {
        List<ChatMessage> given = List.copyOf(Arguments.given(chat, "chat"));
        return options -> drive(shared.text().encode(given, options), options, answer -> answered(given, answer));
    }

    private Function<GenerateOptions, GenerationRun.Drive> turn(int[] ids) {
        int[] given = Arguments.given(ids, "ids").clone();
        return options -> drive(given, options, _ -> List.of());
    }

    private GenerationRun.Drive drive(
            int[] whole, GenerateOptions options, Function<Generation, List<ChatMessage>> messagesAfter) {
        Consumer<Generation> keep = ended -> {
            context = joined(whole, ended.ids());
            if (ended.reason() != FinishReason.ERROR) {
                messages = messagesAfter.apply(ended);
            }
        };
        TextGeneration generation = shared.text()
                .newGeneration(
                        whole,
                        options.withOnEnd(keep.andThen(options.listeners().onEnd())));
        GenerationLoop loop =
                GenerationLoop.reusing(shared.model(), state, whole, generation.tokens(), options.onPrefill());
        return GenerationRun.Drive.of(generation, loop, options);
    }

    /** What this session's model says next to another's tokens; what the session held is forgotten as far as it differs. */
    Proposals proposals() {
        DraftModel draft = new DraftModel(shared.model(), state);
        return (history, last, count) -> calls.run(() -> {
            messages = List.of();
            int[] ids = draft.propose(history, last, count);
            context = state.tokens();
            return ids;
        });
    }

    private static List<ChatMessage> answered(List<ChatMessage> chat, Generation answer) {
        List<ChatMessage> more = new ArrayList<>(chat);
        more.add(answer.asMessage());
        return List.copyOf(more);
    }

    private static int[] joined(int[] first, int[] second) {
        int[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /** The chat so far, the model's answers included. */
    public List<ChatMessage> messages() {
        return messages;
    }

    /** Every token so far: prompts and what was generated behind them. */
    public int[] tokens() {
        return context.clone();
    }

    /**
     * Forgets the tokens from a length on. {@link #messages()} stay: the next turn of the chat computes them again, a raw text is put
     * behind the tokens that are left.
     *
     * @throws IllegalArgumentException when there are fewer tokens
     */
    public void trim(int length) {
        calls.run(() -> {
            if (length < 0 || length > context.length) {
                throw new IllegalArgumentException(
                        "cannot trim a session of " + context.length + " tokens to " + length);
            }
            context = Arrays.copyOf(context, length);
            state.trim(Math.min(length, state.position()));
            return null;
        });
    }

    /** Forgets everything. */
    public void reset() {
        calls.run(() -> {
            context = new int[0];
            messages = List.of();
            state.reset();
            return null;
        });
    }

    /** A session that goes its own way from here. */
    public Session fork() {
        return calls.run(() -> new Session(shared, state.fork(), context, messages));
    }

    /**
     * Writes the conversation to a file, to go on with {@link CausalLM#restoreSession}, in another process too.
     *
     * @throws TorchAneException when the file cannot be written; a file that was there before is then untouched
     */
    public void save(Path file) {
        Arguments.given(file, "file");
        calls.run(() -> {
            byte[] chat = ChatMessage.toJson(messages).getBytes(StandardCharsets.UTF_8);
            ByteBuffer attached = ByteBuffer.allocate(4 + 4 * context.length + chat.length);
            attached.putInt(context.length);
            for (int id : context) {
                attached.putInt(id);
            }
            state.save(file, shared.fingerprint(), attached.put(chat).array());
            return null;
        });
    }

    /** Frees the context; idempotent, from any thread: a generation that is running ends with an {@link IllegalStateException}. */
    @Override
    public void close() {
        calls.close(() -> {
            shared.sessions().remove(this);
            state.close();
        });
    }
}
