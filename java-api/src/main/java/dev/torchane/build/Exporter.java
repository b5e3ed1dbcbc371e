package dev.torchane.build;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

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

    /**
     * Builds a language model in chunks: a bundle of its embedding and tokenizer, and below it one for each program that
     * {@code chunks.json} names.
     *
     * @param limits of each program
     * @param directory an existing empty directory that receives the bundle's files; the caller installs it
     * @param whole keeps the chunks that are whole while others are built: what an interrupted build leaves there the next one
     *     takes. Made when it is absent, on the same disk as {@code directory}; gone when the build has ended
     * @throws dev.torchane.TorchAneException when the checkpoint is unusable, or the model cannot be built so
     */
    default void exportChunks(
            Path checkpoint, BuildOptions options, ChunkLimits limits, Path directory, Path whole, Progress progress) {
        throw new TorchAneException(getClass().getName() + " builds no models in chunks, so not " + checkpoint);
    }

    /**
     * Builds any module: a function for each set of inputs, called {@code main}, {@code main_1}, …
     *
     * @param source where the module comes from; building a {@link ModuleSource.Factory} runs its code
     * @param functions inputs of each function, at least one
     * @param options what to build
     * @param directory an existing empty directory that receives the bundle's files; the caller installs it
     * @throws dev.torchane.TorchAneException when the source is unusable, or the module has an operation that cannot be lowered;
     *     the message names the operation and its place in the module
     */
    default void exportModule(
            ModuleSource source,
            List<ModuleInputs> functions,
            ModuleOptions options,
            Path directory,
            Progress progress) {
        throw new TorchAneException(getClass().getName() + " builds language models only, not " + source.title());
    }

    /**
     * Runs a module in torch.
     *
     * @param inputs as a function of the built module takes them
     * @return the outputs by name, fp32, int32 or bool
     */
    default Map<String, Tensor> runModule(ModuleSource source, Map<String, Tensor> inputs, Progress progress) {
        throw new TorchAneException(getClass().getName() + " runs no modules in torch, so not " + source.title());
    }
}
