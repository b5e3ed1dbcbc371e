package dev.torchane.build;

import java.nio.file.Path;

/**
 * Turns a checkpoint into a bundle. Found with {@link java.util.ServiceLoader}; implemented by the artifact
 * {@code dev.torchane:torch-ane-polyglot-host}.
 */
public interface Exporter {

    /**
     * Version of everything that shapes an export besides the options: passes, torch, transformers, GraalPy. Part of the
     * cache key. Must be cheap: no Python is started for it.
     */
    String version();

    /**
     * Builds a language model.
     *
     * @param checkpoint a Hugging Face directory or a GGUF file
     * @param options what to build
     * @param directory an existing empty directory that receives the bundle's files; the caller installs it
     * @throws dev.torchane.TorchAneException when the checkpoint is unusable or the export fails
     */
    void exportCausalLM(Path checkpoint, BuildOptions options, Path directory, Progress progress);
}
