package dev.torchane;

import dev.torchane.engine.Engine;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.chunks.ChunkIndex;
import dev.torchane.engine.chunks.ChunkedProgram;
import dev.torchane.llm.GenerationLoop;
import dev.torchane.llm.KvState;
import dev.torchane.llm.LanguageModel;
import dev.torchane.llm.ModelShape;
import dev.torchane.program.Bundle;
import dev.torchane.program.EmbeddingTable;
import dev.torchane.program.Manifest;
import dev.torchane.text.ChatMessage;
import dev.torchane.text.Tokenizer;
import dev.torchane.weights.Checkpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A causal language model with its KV state inside the program.
 *
 * <pre>{@code
 * try (CausalLM lm = CausalLM.fromPretrained("model-directory-or.gguf", CausalLMOptions.defaults())) {
 *     System.out.println(lm.generate("Why is the sky blue?", GenerateOptions.defaults()).text());
 * }
 * }</pre>
 *
 * <p>The first time a checkpoint is used it is built into a bundle in the cache (minutes, Python runs inside this process);
 * afterwards the bundle alone is loaded and no Python is needed. One call at a time may feed, generate
 * or reset: another, from a second thread or from a listener of the first, is refused. Any thread may close an instance.
 */
public final class CausalLM implements AutoCloseable {

    private final Bundle bundle;
    private final LoadedProgram program;
    private final LanguageModel model;
    private final ModelText text;
    private final KvState state;
    private final Optional<Tokenizer> tokenizer;
    private final OneCallAtATime calls;
    private final GenerationForms forms;
    private final Session.Shared shared;

    private CausalLM(Bundle bundle, LoadedProgram program, Optional<Tokenizer> tokenizer, CausalLMOptions options) {
        this.bundle = bundle;
        this.program = program;
        this.tokenizer = tokenizer;
        Manifest manifest = bundle.manifest();
        EmbeddingTable embedding = bundle.embedding();
        this.model = new LanguageModel(program, ModelShape.of(manifest), embedding::lookup);
        this.text = new ModelText(
                bundle.directory(),
                tokenizer,
                manifest.model().eos(),
                manifest.model().vocab(),
                manifest.model().maxLen());
        this.state = model.newState();
        Sessions sessions = new Sessions(bundle::close);
        this.calls = new OneCallAtATime(sessions::release);
        this.forms = new GenerationForms(calls);
        this.shared = new Session.Shared(model, text, sessions, Fingerprint.of(manifest, options));
    }

    /**
     * A model from a checkpoint or a bundle, built into the cache when it is not there yet, or when what is there cannot be
     * opened.
     *
     * @param idOrPath a Hugging Face directory, a GGUF file, a bundle, or an id that the local Hugging Face cache holds
     * @throws TorchAneException when there is no such model, when it is damaged or of a kind that is not supported, or when
     *     it is not built yet and the artifact that builds is not on the class path
     */
    public static CausalLM fromPretrained(String idOrPath, CausalLMOptions options) {
        Arguments.given(options, "options");
        return fromPretrained(locate(idOrPath), options);
    }

    /**
     * The path of a model: the path itself where it exists, else the snapshot that the local Hugging Face cache has of that id.
     *
     * @throws TorchAneException when there is neither; the message names both places looked at
     */
    public static Path locate(String idOrPath) {
        return ModelLocator.system().locate(Arguments.given(idOrPath, "idOrPath"));
    }

    /** As {@link #fromPretrained(String, CausalLMOptions)}, from a path. */
    public static CausalLM fromPretrained(Path model, CausalLMOptions options) {
        Arguments.given(options, "options");
        return isBundle(model) ? open(model, options) : cached(model, options).open(bundle -> open(bundle, options));
    }

    /**
     * The bundle of a checkpoint in the cache, built when it is not there yet. A path that is a bundle already is returned as
     * it is.
     */
    public static Path build(Path model, CausalLMOptions options) {
        Arguments.given(options, "options");
        if (isBundle(model)) {
            return model;
        }
        return cached(model, options).entry();
    }

    static boolean isBundle(Path model) {
        return Files.isRegularFile(Arguments.given(model, "model").resolve(Bundle.MANIFEST));
    }

    private static CachedBuild cached(Path checkpoint, CausalLMOptions options) {
        List<Path> files;
        try (Checkpoint opened = Checkpoint.open(checkpoint)) {
            files = opened.files();
        }
        return new CachedBuild(
                checkpoint.toString(),
                options.cache(),
                files,
                options.build().asText(),
                CachedBuild.exporter(),
                (exporter, directory) -> {
                    try (RecordedStages stages = new RecordedStages(checkpoint.toString(), options.progress())) {
                        exporter.exportCausalLM(checkpoint, options.build(), directory, stages);
                    }
                });
    }

    /**
     * A model from a bundle, of one program or of {@linkplain ChunkedCausalLM chunks}. No Python is needed.
     *
     * @throws TorchAneException when the bundle is damaged, or the engine cannot run it
     */
    public static CausalLM open(Path bundle, CausalLMOptions options) {
        return open(bundle, options, 0);
    }

    /**
     * @param residentBytes weights of a model in chunks that may stay in memory; 0 takes what the engine has room for
     */
    static CausalLM open(Path bundle, CausalLMOptions options, long residentBytes) {
        Arguments.given(options, "options");
        LoadEvent event = new LoadEvent();
        event.begin();
        event.bundle = String.valueOf(bundle);
        event.engine = options.engine();
        Bundle opened = Bundle.open(Arguments.given(bundle, "bundle"));
        // The tokenizer takes a good part of the time to the first token: it is opened beside the program.
        CompletableFuture<Optional<Tokenizer>> tokenizer = CompletableFuture.supplyAsync(
                () -> opened.file("tokenizer.json").map(file -> Tokenizer.open(opened.directory())));
        LoadedProgram program = null;
        try {
            Engine engine = Engine.named(options.engine());
            program = ChunkIndex.isIn(opened)
                    ? ChunkedProgram.load(opened, engine, options.engineOptions(), residentBytes)
                    : engine.load(opened, options.engineOptions());
            event.runsOn = program.runsOn();
            CausalLM lm = new CausalLM(opened, program, joined(tokenizer), options);
            event.commit();
            return lm;
        } catch (Throwable failure) {
            if (program != null) {
                program.close();
            }
            tokenizer.handle((known, unopened) -> {
                if (known != null) {
                    known.ifPresent(Tokenizer::close);
                }
                opened.close();
                return null;
            });
            throw failure;
        }
    }

    private static <T> T joined(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw failure;
        }
    }

    /** What was built: model, options, versions, weights. */
    public Manifest manifest() {
        return bundle.manifest();
    }

    /** Directory of the bundle. */
    public Path bundle() {
        return bundle.directory();
    }

    /** Largest context in tokens. */
    public int maxLen() {
        return model.shape().maxLen();
    }

    /** Tokens fed since the last {@link #reset()}. */
    public int position() {
        calls.requireOpen();
        return state.position();
    }

    /**
     * Appends tokens to the context.
     *
     * @param ids at least one
     * @return logits of the last token, {@code [vocab]}
     * @throws IllegalArgumentException when there are no ids, or one is not in the vocabulary
     * @throws dev.torchane.llm.ContextOverflowException when the context would exceed {@link #maxLen()}
     * @throws IllegalStateException after {@link #close()}, or while another call runs
     */
    public float[] feed(int... ids) {
        Arguments.given(ids, "ids");
        return calls.run(() -> model.feed(state, ids, done -> {}));
    }

    /**
     * Generates from scratch. Unless {@link GenerateOptions#raw()}, the prompt is the user's turn in the model's chat template.
     *
     * <p>A generation is had in four forms, with the same options and the same result: awaited here, in the background ({@link
     * #generateAsync(String, GenerateOptions)}), as a stream that is pulled ({@link #stream(String, GenerateOptions)}), and
     * published ({@link #publisher(String, GenerateOptions)}). {@link GenerateOptions#withOnEnd} receives the result in all of them.
     *
     * @throws TorchAneException when the model has no tokenizer, or no chat template and the options are not raw
     * @throws IllegalArgumentException when the prompt is empty
     * @throws dev.torchane.llm.ContextOverflowException when the prompt alone is longer than {@link #maxLen()}; a generation
     *     that reaches it ends with {@link dev.torchane.llm.FinishReason#LENGTH}
     * @throws GenerationException when it fails on its way; the exception has what was generated before
     * @throws IllegalStateException after {@link #close()}, or while another call runs
     */
    public Generation generate(String prompt, GenerateOptions options) {
        return generate(ids(prompt, options), options);
    }

    /** As {@link #generate(String, GenerateOptions)}, the answer to a chat. */
    public Generation generate(List<ChatMessage> chat, GenerateOptions options) {
        return generate(ids(chat, options), options);
    }

    /** As {@link #generate(String, GenerateOptions)}, behind a prompt of ids, each within the vocabulary. */
    public Generation generate(int[] prompt, GenerateOptions options) {
        return forms.await(Arguments.given(options, "options"), driving(prompt));
    }

    /**
     * Generates in the background. Cancelling the future, or completing it in another way, ends the generation within one step. The
     * prompt is checked at once, and the model is in use from then on.
     */
    public CompletableFuture<Generation> generateAsync(String prompt, GenerateOptions options) {
        return generateAsync(ids(prompt, options), options);
    }

    /** As {@link #generateAsync(String, GenerateOptions)}, the answer to a chat. */
    public CompletableFuture<Generation> generateAsync(List<ChatMessage> chat, GenerateOptions options) {
        return generateAsync(ids(chat, options), options);
    }

    /** As {@link #generateAsync(String, GenerateOptions)}, behind a prompt of ids. */
    public CompletableFuture<Generation> generateAsync(int[] prompt, GenerateOptions options) {
        return forms.background(Arguments.given(options, "options"), driving(prompt));
    }

    /**
     * A generation whose tokens are computed when they are pulled, on the thread that pulls. Closing the stream ends the generation;
     * until it is closed or read to its end the model is in use, so open it in a try statement.
     */
    public Stream<Token> stream(String prompt, GenerateOptions options) {
        return stream(ids(prompt, options), options);
    }

    /** As {@link #stream(String, GenerateOptions)}, the answer to a chat. */
    public Stream<Token> stream(List<ChatMessage> chat, GenerateOptions options) {
        return stream(ids(chat, options), options);
    }

    /** As {@link #stream(String, GenerateOptions)}, behind a prompt of ids. */
    public Stream<Token> stream(int[] prompt, GenerateOptions options) {
        return forms.stream(Arguments.given(options, "options"), driving(prompt));
    }

    /**
     * A generation for each subscriber, which begins with the subscriber's first demand and computes only what was asked for. A
     * model that is in use then is the subscriber's {@code onError}.
     */
    public Flow.Publisher<Token> publisher(String prompt, GenerateOptions options) {
        return publisher(ids(prompt, options), options);
    }

    /** As {@link #publisher(String, GenerateOptions)}, the answer to a chat. */
    public Flow.Publisher<Token> publisher(List<ChatMessage> chat, GenerateOptions options) {
        return publisher(ids(chat, options), options);
    }

    /** As {@link #publisher(String, GenerateOptions)}, behind a prompt of ids. */
    public Flow.Publisher<Token> publisher(int[] prompt, GenerateOptions options) {
        return forms.publisher(Arguments.given(options, "options"), driving(prompt));
    }

    private Function<GenerateOptions, GenerationRun.Drive> driving(int[] prompt) {
        int[] ids = Arguments.given(prompt, "prompt").clone();
        return options -> {
            state.reset();
            TextGeneration generation = text.newGeneration(ids, options);
            GenerationLoop loop = new GenerationLoop(model, state, ids, generation.tokens(), options.onPrefill());
            return GenerationRun.Drive.of(generation, loop, options);
        };
    }

    private int[] ids(String prompt, GenerateOptions options) {
        calls.requireOpen();
        return text.encode(prompt, Arguments.given(options, "options"));
    }

    private int[] ids(List<ChatMessage> chat, GenerateOptions options) {
        calls.requireOpen();
        return text.encode(chat, Arguments.given(options, "options"));
    }

    /**
     * Generates behind many prompts, in a batch where the bundle has batch functions: eight streams take a token in each call of
     * the program, and a stream that ends makes room for a prompt that waits. Each result is that of {@link #generate(int[],
     * GenerateOptions)}; without the functions (built with {@code batch(false)}) the streams run one after another.
     *
     * @return one result for each request, in their order
     * @throws IllegalArgumentException when a prompt is empty, or has an id outside the vocabulary; nothing is computed then
     * @throws dev.torchane.llm.ContextOverflowException when a prompt is longer than {@link #maxLen()}; nothing is computed then
     * @throws BatchException when generations failed on their way; it has the results of all
     * @throws IllegalStateException after {@link #close()}, or while another call runs
     */
    public List<Generation> generateBatch(List<BatchRequest> requests) {
        List<BatchRequest> given = List.copyOf(Arguments.given(requests, "requests"));
        return calls.run(() -> new BatchRun(model, text, given).run());
    }

    /** As {@link #generateBatch(List)}, behind texts, each as in {@link #generate(String, GenerateOptions)}. */
    public List<Generation> generateBatch(List<String> prompts, GenerateOptions options) {
        return generateBatch(Arguments.given(prompts, "prompts").stream()
                .map(prompt -> BatchRequest.of(prompt, options))
                .toList());
    }

    /**
     * A conversation with a context of its own, beside this model's; it keeps what is computed from turn to turn. It holds memory
     * until it or the model is closed.
     */
    public Session newSession() {
        calls.requireOpen();
        return Session.begin(shared);
    }

    /**
     * A conversation that {@link Session#save} wrote, in this process or another.
     *
     * @throws dev.torchane.llm.SavedStateException when there is no such file, it is damaged, or it belongs to another model or
     *     another build of it
     */
    public Session restoreSession(Path file) {
        calls.requireOpen();
        return Session.restore(shared, Arguments.given(file, "file"));
    }

    /** The ids that {@link #generate(String, GenerateOptions)} feeds for a prompt, without tools. */
    public int[] encode(String prompt, boolean raw) {
        return ids(prompt, GenerateOptions.defaults().withRaw(raw));
    }

    /** The ids that {@link #generate(List, GenerateOptions)} feeds for a chat. */
    public int[] encode(List<ChatMessage> chat, GenerateOptions options) {
        return ids(chat, options);
    }

    /** The tokenizer, if the checkpoint had one. */
    public Optional<Tokenizer> tokenizer() {
        return tokenizer;
    }

    /** Forgets the context. */
    public void reset() {
        calls.run(() -> {
            state.reset();
            return null;
        });
    }

    /**
     * Frees the state and the program; idempotent, and from any thread: a generation that is running ends with an
     * {@link IllegalStateException}.
     */
    @Override
    public void close() {
        calls.close(() -> {
            shared.sessions().close();
            state.close();
            program.close();
            tokenizer.ifPresent(Tokenizer::close);
        });
    }
}
