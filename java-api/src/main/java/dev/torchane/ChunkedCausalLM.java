package dev.torchane;

import dev.torchane.weights.Checkpoint;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;

/**
 * Large language models as chunks: programs of several layers each that run one after another, built straight from a checkpoint
 * without ever holding it in memory. What is had is a {@link CausalLM}, with everything that has: sampling, streams, sessions, batches.
 *
 * <pre>{@code
 * try (CausalLM lm = ChunkedCausalLM.fromPretrained("Mistral-Small-24B.gguf", ChunkedOptions.defaults())) {
 *     System.out.println(lm.generate("Why is the sky blue?", GenerateOptions.defaults()).text());
 * }
 * }</pre>
 *
 * <p>A build needs memory for its largest chunk, not for the model, and goes on at the last whole chunk when it was interrupted. A
 * model whose weights do not fit in memory runs, slowly: chunks that find no room are read from the disk for every window of tokens.
 */
public final class ChunkedCausalLM {

    private ChunkedCausalLM() {}

    /**
     * A model from a checkpoint or a bundle, built into the cache when it is not there yet.
     *
     * @param idOrPath a Hugging Face directory, a GGUF file, a bundle, or an id that the local Hugging Face cache holds
     * @throws TorchAneException when there is no such model, when it is damaged or of a kind that cannot be built in chunks, or
     *     when it is not built yet and the artifact that builds is not on the class path
     */
    public static CausalLM fromPretrained(String idOrPath, ChunkedOptions options) {
        Arguments.given(options, "options");
        return fromPretrained(CausalLM.locate(idOrPath), options);
    }

    /** As {@link #fromPretrained(String, ChunkedOptions)}, from a path. */
    public static CausalLM fromPretrained(Path model, ChunkedOptions options) {
        Arguments.given(options, "options");
        return CausalLM.isBundle(model)
                ? open(model, options)
                : cached(model, options).open(bundle -> open(bundle, options));
    }

    /** The bundle of a checkpoint in the cache, built when it is not there yet. A bundle is returned as it is. */
    public static Path build(Path model, ChunkedOptions options) {
        Arguments.given(options, "options");
        return CausalLM.isBundle(model) ? model : cached(model, options).entry();
    }

    /**
     * A model from a bundle. No Python is needed.
     *
     * @throws TorchAneException when the bundle is damaged, or the engine cannot run it
     */
    public static CausalLM open(Path bundle, ChunkedOptions options) {
        Arguments.given(options, "options");
        return CausalLM.open(bundle, options.model(), options.residentBytes());
    }

    private static CachedBuild cached(Path checkpoint, ChunkedOptions options) {
        List<Path> files;
        try (Checkpoint opened = Checkpoint.open(checkpoint)) {
            files = opened.files();
        }
        SortedMap<String, String> text = options.model().build().asText();
        text.putAll(options.limits().asText());
        return new CachedBuild(
                checkpoint + " in chunks",
                options.model().cache(),
                files,
                text,
                CachedBuild.exporter(),
                (exporter, directory) -> {
                    try (RecordedStages stages = new RecordedStages(
                            checkpoint.toString(), options.model().progress())) {
                        exporter.exportChunks(
                                checkpoint,
                                options.model().build(),
                                options.limits(),
                                directory,
                                directory.resolveSibling(directory.getFileName() + ".chunks"),
                                stages);
                    }
                });
    }
}
