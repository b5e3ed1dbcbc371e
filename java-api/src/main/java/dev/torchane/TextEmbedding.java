package dev.torchane;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleSource;
import dev.torchane.embedding.EmbeddingConfig;
import dev.torchane.embedding.Pooling;
import dev.torchane.embedding.TokenLimit;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import dev.torchane.text.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A model that turns texts into vectors, such as all-MiniLM-L6-v2: an encoder of transformers with the files of sentence-transformers
 * beside it, or a causal model whose last token stands for the text.
 *
 * <pre>{@code
 * try (TextEmbedding model = TextEmbedding.fromPretrained("all-MiniLM-L6-v2", CompileOptions.defaults())) {
 *     Embedding question = model.embed("Who wrote Faust?");
 *     double close = question.similarity(model.embed("Goethe is the author of Faust."));
 * }
 * }</pre>
 *
 * <p>Any number of threads may use it at once, and any may close it.
 */
public final class TextEmbedding implements AutoCloseable {

    private static final FolderDescription DESCRIPTION = new FolderDescription("embedding.json", "text-embedding", 1);
    private static final String PROGRAM = "program";
    private static final String IDS = "input_ids";
    private static final String MASK = "attention_mask";
    private static final String STATES = "last_hidden_state";

    /** Lengths of functions below the longest: short texts do not pay for long ones. */
    private static final int[] LENGTHS = {32, 128, 512};

    private static final List<String> TEXT_FILES = List.of("tokenizer.json", "tokenizer_config.json");

    private final Path directory;
    private final EmbeddingConfig config;
    private final Tokenizer tokenizer;
    private final CompiledModule module;
    /** Types of the functions' ids, the shortest first. */
    private final List<TensorType> lengths;

    private final int[] empty;
    private final SharedUse use;

    private TextEmbedding(Path directory, EmbeddingConfig config, Tokenizer tokenizer, CompiledModule module) {
        this.directory = directory;
        this.config = config;
        this.tokenizer = tokenizer;
        this.module = module;
        this.lengths = module.shapes().stream().map(inputs -> inputs.get(IDS)).toList();
        this.empty = tokenizer.encode("", true);
        this.use = new SharedUse("embedding model", () -> {
            module.close();
            tokenizer.close();
        });
    }

    /**
     * A model from a directory or a bundle, built into the cache when it is not there yet. Building runs Python inside this process.
     *
     * @param idOrPath a directory that transformers or sentence-transformers saved, a bundle, or an id that the local Hugging Face cache
     *     holds
     * @throws TorchAneException when there is no such model, when it is damaged or of a kind that is not supported, or when it is not
     *     built yet and the artifact that builds is not on the class path
     */
    public static TextEmbedding fromPretrained(String idOrPath, CompileOptions options) {
        Arguments.given(options, "options");
        return fromPretrained(ModelLocator.system().locate(Arguments.given(idOrPath, "idOrPath")), options);
    }

    /** As {@link #fromPretrained(String, CompileOptions)}, from a path. */
    public static TextEmbedding fromPretrained(Path model, CompileOptions options) {
        Arguments.given(options, "options");
        return isBundle(model) ? open(model, options) : cached(model, options).open(bundle -> open(bundle, options));
    }

    /** The bundle of a model in the cache, built when it is not there yet. A path that is a bundle already is returned as it is. */
    public static Path build(Path model, CompileOptions options) {
        return isBundle(model)
                ? model
                : cached(model, Arguments.given(options, "options")).entry();
    }

    private static boolean isBundle(Path model) {
        return DESCRIPTION.isIn(Arguments.given(model, "model"));
    }

    private static CachedBuild cached(Path model, CompileOptions options) {
        if (!Files.isRegularFile(model.resolve("tokenizer.json"))) {
            throw new TorchAneException(model + " has no tokenizer.json: save the model's tokenizer with transformers");
        }
        EmbeddingConfig config = EmbeddingConfig.read(model);
        ModuleSource.Pretrained encoder = ModuleSource.transformers("AutoModel", EmbeddingConfig.encoder(model));
        ModuleSource source = config.causal() ? encoder.withArguments(Map.of("use_cache", false)) : encoder;
        List<ModuleInputs> functions = functions(config.maxTokens());
        Set<Path> files = new LinkedHashSet<>(source.files());
        files.addAll(EmbeddingConfig.files(model));
        SortedMap<String, String> text = new TreeMap<>(options.build().asText());
        text.put("kind", DESCRIPTION.kind());
        text.put("shapes", functions.toString());
        return new CachedBuild(
                model.toString(),
                options.cache(),
                List.copyOf(files),
                text,
                CachedBuild.exporter(),
                (exporter, directory) -> {
                    try (RecordedStages stages = new RecordedStages(model.toString(), options.progress())) {
                        Path program = Files.createDirectories(directory.resolve(PROGRAM));
                        exporter.exportModule(source, functions, options.build(), program, stages);
                        for (String name : TEXT_FILES) {
                            if (Files.isRegularFile(model.resolve(name))) {
                                Files.copy(model.resolve(name), directory.resolve(name));
                            }
                        }
                        DESCRIPTION.write(directory, DESCRIPTION.begin().setAll(config.toJson()));
                    } catch (IOException e) {
                        throw new TorchAneException("cannot write " + directory + ": " + e, e);
                    }
                });
    }

    /** One function for each length, over one set of weights. */
    private static List<ModuleInputs> functions(int most) {
        SortedSet<Integer> lengths = new TreeSet<>(Set.of(most));
        for (int length : LENGTHS) {
            if (length < most) {
                lengths.add(length);
            }
        }
        return lengths.stream()
                .map(length -> TensorType.of(DType.INT32, 1, length))
                .map(type -> ModuleInputs.of(IDS, type).and(MASK, type))
                .toList();
    }

    /**
     * A model from its bundle. No Python is needed.
     *
     * @throws TorchAneException when the bundle is damaged, or the engine cannot run it
     */
    public static TextEmbedding open(Path bundle, CompileOptions options) {
        Arguments.given(options, "options");
        JsonNode description = DESCRIPTION.read(Arguments.given(bundle, "bundle"));
        EmbeddingConfig config = EmbeddingConfig.of(description, bundle);
        Tokenizer tokenizer = Tokenizer.open(bundle);
        try {
            CompiledModule module = CompiledModule.open(bundle.resolve(PROGRAM), options);
            try {
                if (!module.outputs().containsKey(STATES)) {
                    throw new TorchAneException("the model answers "
                            + module.outputs().keySet() + " and no '" + STATES + "': it is no encoder of texts");
                }
                return new TextEmbedding(bundle, config, tokenizer, module);
            } catch (RuntimeException | Error failure) {
                module.close();
                throw failure;
            }
        } catch (RuntimeException | Error failure) {
            tokenizer.close();
            throw failure;
        }
    }

    /** Directory of the bundle. */
    public Path bundle() {
        return directory;
    }

    /** Numbers in a vector. */
    public int dimensions() {
        TensorType states = module.outputs().get(STATES);
        return states.axis(states.rank() - 1) * config.poolings().size();
    }

    /** Tokens of a text that count at most, special ones included. */
    public int maxTokens() {
        return config.maxTokens();
    }

    /** What the model wants in front of some texts, such as questions, by name. */
    public Map<String, String> prompts() {
        return config.prompts();
    }

    /**
     * The embedding of a text, behind the model's default prompt if it has one.
     *
     * @throws TorchAneException when a number overflows: fp16 activations are too narrow for this model then
     * @throws IllegalStateException after {@link #close()}
     */
    public Embedding embed(String text) {
        return embed(Arguments.given(text, "text"), config.defaultPrompt());
    }

    /** As {@link #embed(String)}, behind one of {@link #prompts()}. */
    public Embedding embed(String text, String prompt) {
        if (!config.prompts().containsKey(Arguments.given(prompt, "prompt"))) {
            throw new IllegalArgumentException("the model has no prompt '" + prompt + "'; it has "
                    + config.prompts().keySet());
        }
        return embed(Arguments.given(text, "text"), Optional.of(prompt));
    }

    /** The embeddings of some texts, in their order. */
    public List<Embedding> embed(List<String> texts) {
        List<Embedding> embeddings = new ArrayList<>();
        for (String text : List.copyOf(Arguments.given(texts, "texts"))) {
            embeddings.add(embed(text));
        }
        return embeddings;
    }

    private Embedding embed(String text, Optional<String> prompt) {
        return use.run(() -> {
            String whole = prompt.map(name -> config.prompts().get(name)).orElse("") + text;
            int[] all = tokenizer.encode(config.lowerCase() ? whole.toLowerCase(Locale.ROOT) : whole, true);
            int[] ids = new TokenLimit(config.maxTokens()).cut(all, empty);
            return new Embedding(vector(ids), ids.length, all.length - ids.length);
        });
    }

    private float[] vector(int[] ids) {
        TensorType type = type(ids.length);
        Tensor tokens = Tensor.allocate(type);
        Tensor mask = Tensor.allocate(type);
        for (int i = 0; i < type.elements(); i++) {
            tokens.set(i, i < ids.length ? ids[i] : config.pad());
            mask.set(i, i < Math.max(1, ids.length) ? 1 : 0);
        }
        Tensor states = module.run(Map.of(IDS, tokens, MASK, mask)).get(STATES);
        int hidden = states.type().axis(states.type().rank() - 1);
        int count = Math.max(1, ids.length);
        float[] seen = states.toFloats(0, count * hidden);
        float[] vector = new float[hidden * config.poolings().size()];
        for (int i = 0; i < config.poolings().size(); i++) {
            Pooling pooling = config.poolings().get(i);
            System.arraycopy(pooling.pool(seen, count, hidden), 0, vector, i * hidden, hidden);
        }
        double square = 0;
        for (float value : vector) {
            square += (double) value * value;
        }
        if (!Double.isFinite(square)) {
            throw new TorchAneException("the embedding of " + ids.length
                    + " tokens is not finite: activations overflowed; compile the model with fp32 precision");
        }
        if (config.normalized() && square > 0) {
            float factor = (float) (1 / Math.sqrt(square));
            for (int i = 0; i < vector.length; i++) {
                vector[i] *= factor;
            }
        }
        return vector;
    }

    /** The type of the shortest function that takes so many ids. */
    private TensorType type(int ids) {
        return lengths.stream()
                .filter(type -> type.axis(1) >= ids)
                .findFirst()
                .orElseThrow(() -> new TorchAneException(
                        "the bundle " + directory + " has no function for " + ids + " tokens: build it again"));
    }

    /** Frees the model, after the calls that are running. */
    @Override
    public void close() {
        use.close();
    }
}
