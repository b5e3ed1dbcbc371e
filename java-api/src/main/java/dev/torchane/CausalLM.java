package dev.torchane;

import dev.torchane.build.Exporter;
import dev.torchane.cache.ModelCache;
import dev.torchane.cache.ModelKey;
import dev.torchane.cache.SourceDigest;
import dev.torchane.engine.Engine;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.llm.GenerationLoop;
import dev.torchane.llm.KvState;
import dev.torchane.llm.LanguageModel;
import dev.torchane.llm.ModelShape;
import dev.torchane.llm.TokenStream;
import dev.torchane.program.Bundle;
import dev.torchane.program.EmbeddingTable;
import dev.torchane.program.Manifest;
import dev.torchane.text.ChatMessage;
import dev.torchane.text.ChatTemplate;
import dev.torchane.text.IncrementalDecoder;
import dev.torchane.text.Tokenizer;
import dev.torchane.weights.Checkpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

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
    private final Set<Integer> eos;
    private final KvState state;
    private final Optional<Tokenizer> tokenizer;
    private final OneCallAtATime calls;

    private CausalLM(Bundle bundle, LoadedProgram program, Optional<Tokenizer> tokenizer) {
        this.bundle = bundle;
        this.program = program;
        this.tokenizer = tokenizer;
        Manifest manifest = bundle.manifest();
        EmbeddingTable embedding = bundle.embedding();
        this.model = new LanguageModel(program, ModelShape.of(manifest), embedding::lookup);
        Set<Integer> ends = new HashSet<>(manifest.model().eos());
        tokenizer.ifPresent(known -> ends.addAll(known.ends()));
        this.eos = Set.copyOf(ends);
        this.state = model.newState();
        this.calls = new OneCallAtATime(bundle::close);
    }

    /**
     * A model from a checkpoint or a bundle, built into the cache when it is not there yet.
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
        return open(build(model, options), options);
    }

    /**
     * The bundle of a checkpoint in the cache, built when it is not there yet. A path that is a bundle already is returned as
     * it is.
     */
    public static Path build(Path model, CausalLMOptions options) {
        Arguments.given(options, "options");
        if (Files.isRegularFile(Arguments.given(model, "model").resolve(Bundle.MANIFEST))) {
            return model;
        }
        Optional<Exporter> exporter = ServiceLoader.load(Exporter.class).findFirst();
        List<Path> files;
        try (Checkpoint checkpoint = Checkpoint.open(model)) {
            files = checkpoint.files();
        }
        String source = new SourceDigest(options.cache()).of(files);
        ModelKey key = new ModelKey(
                source,
                options.build().asText(),
                exporter.map(Exporter::version).orElse(""));
        ModelCache cache = new ModelCache(options.cache());
        if (exporter.isEmpty()) {
            return cache.findAnyVersion(key)
                    .orElseThrow(() -> new TorchAneException(model
                            + " is not built yet with these options, and what builds it is not on the class path: add"
                            + " dev.torchane:torch-ane-polyglot-host, or build a bundle elsewhere and open that"));
        }
        return cache.findOrBuild(
                key, directory -> exporter.get().exportCausalLM(model, options.build(), directory, options.progress()));
    }

    /**
     * A model from a bundle. No Python is needed.
     *
     * @throws TorchAneException when the bundle is damaged, or the engine cannot run it
     */
    public static CausalLM open(Path bundle, CausalLMOptions options) {
        Arguments.given(options, "options");
        Bundle opened = Bundle.open(Arguments.given(bundle, "bundle"));
        // The tokenizer takes a good part of the time to the first token: it is opened beside the program.
        CompletableFuture<Optional<Tokenizer>> tokenizer = CompletableFuture.supplyAsync(
                () -> opened.file("tokenizer.json").map(file -> Tokenizer.open(opened.directory())));
        LoadedProgram program = null;
        try {
            program = Engine.named(options.engine()).load(opened, options.engineOptions());
            return new CausalLM(opened, program, joined(tokenizer));
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
     * Generates from scratch behind a prompt of ids.
     *
     * @throws IllegalArgumentException when the prompt is empty, or has an id outside the vocabulary
     * @throws dev.torchane.llm.ContextOverflowException when the prompt alone is longer than {@link #maxLen()}; a generation
     *     that reaches it ends with {@link dev.torchane.llm.FinishReason#LENGTH}
     */
    public Generation generate(int[] prompt, GenerateOptions options) {
        Arguments.given(prompt, "prompt");
        Arguments.given(options, "options");
        return calls.run(() -> generateNow(prompt, options));
    }

    private Generation generateNow(int[] prompt, GenerateOptions options) {
        state.reset();
        Optional<IncrementalDecoder> decoder = tokenizer.map(Tokenizer::incrementalDecoder);
        StringBuilder text = new StringBuilder();
        TokenStream stream = new TokenStream(new TokenStream.Rules(
                options.sampling().newSampler(), eos, options.maxNewTokens(), -1, () -> false, token -> {
                    if (!token.isEndOfSequence()) {
                        decoder.ifPresent(incremental -> emit(incremental.append(token.id()), text, options));
                    }
                    return true;
                }));
        new GenerationLoop(model, state, prompt, stream, options.onPrefill()).run();
        decoder.ifPresent(incremental -> emit(incremental.finish(), text, options));
        return new Generation(text.toString(), stream.ids(), stream.reason(), stream.stats());
    }

    /**
     * Generates from scratch. Unless {@link GenerateOptions#raw()}, the prompt is the user's turn in the model's chat template.
     *
     * @throws TorchAneException when the model has no tokenizer, or no chat template and the options are not raw
     */
    public Generation generate(String prompt, GenerateOptions options) {
        return generate(encode(prompt, Arguments.given(options, "options").raw()), options);
    }

    /** The ids that {@link #generate(String, GenerateOptions)} feeds for a prompt. */
    public int[] encode(String prompt, boolean raw) {
        calls.requireOpen();
        Arguments.given(prompt, "prompt");
        Tokenizer known = tokenizer.orElseThrow(() -> new TorchAneException(bundle.directory()
                + " has no tokenizer: give token ids, or build from a checkpoint with tokenizer.json"));
        if (raw) {
            return known.encode(prompt, true);
        }
        ChatTemplate chat = known.chatTemplate()
                .orElseThrow(() -> new TorchAneException(bundle.directory()
                        + " has no chat template: complete the text as it stands with GenerateOptions.withRaw(true)"
                        + " (--raw on the command line)"));
        return known.encodeChat(chat.render(List.of(ChatMessage.user(prompt)), true));
    }

    /** The tokenizer, if the checkpoint had one. */
    public Optional<Tokenizer> tokenizer() {
        return tokenizer;
    }

    private static void emit(String piece, StringBuilder text, GenerateOptions options) {
        if (!piece.isEmpty()) {
            text.append(piece);
            options.onText().accept(piece);
        }
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
            state.close();
            program.close();
            tokenizer.ifPresent(Tokenizer::close);
        });
    }
}
