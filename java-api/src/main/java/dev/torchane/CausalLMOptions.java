package dev.torchane;

import dev.torchane.build.BuildOptions;
import dev.torchane.build.Progress;
import dev.torchane.build.Target;
import dev.torchane.build.WeightEncoding;
import dev.torchane.cache.CacheRoot;
import dev.torchane.engine.ComputeUnits;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.engine.StateStorage;
import dev.torchane.program.DType;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * How a language model is built and loaded. Make one with {@link #defaults()} or {@link #builder()}.
 *
 * @param build what the bundle contains
 * @param engine name of the engine: {@code jvm}
 * @param engineOptions how the engine loads it
 * @param cache folder of built models
 * @param progress hears about a build
 */
public record CausalLMOptions(
        BuildOptions build, String engine, EngineOptions engineOptions, Path cache, Progress progress) {

    public CausalLMOptions {
        Arguments.given(build, "build");
        Arguments.given(engine, "engine");
        Arguments.given(engineOptions, "engineOptions");
        Arguments.given(cache, "cache");
        Arguments.given(progress, "progress");
    }

    /** Target cpu, weights as a GGUF stores them or int8, context 2048 or the model's own if smaller, engine {@code jvm}. */
    public static CausalLMOptions defaults() {
        return builder().build();
    }

    /** A builder that starts with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects options; each method returns the builder. */
    public static final class Builder {

        private BuildOptions build = BuildOptions.defaults().withTarget(Target.byDefault());
        private String engine = Engine.defaultName();
        private EngineOptions engineOptions = EngineOptions.defaults();
        private Path cache = CacheRoot.locate();
        private Progress progress = Progress.logged();

        private Builder() {}

        /** Hardware the program is shaped for. */
        public Builder target(Target target) {
            build = build.withTarget(target);
            return this;
        }

        /** Type of activations in the program: {@link DType#FP32} or {@link DType#FP16}. */
        public Builder precision(DType precision) {
            build = build.withPrecision(precision);
            return this;
        }

        /** Storage of the linear layers' weights. */
        public Builder weights(WeightEncoding weights) {
            build = build.withWeights(weights);
            return this;
        }

        /** Largest context in tokens. */
        public Builder maxLen(int tokens) {
            build = build.withMaxLen(tokens);
            return this;
        }

        /** Tokens in a prefill window; a multiple of 8. */
        public Builder prefillWindow(int tokens) {
            build = build.withPrefillWindow(tokens);
            return this;
        }

        /** Context rungs below maxLen that get functions of their own. */
        public Builder ladder(Integer... rungs) {
            build = build.withLadder(Arrays.asList(rungs));
            return this;
        }

        /** Whether the program gets functions in which eight streams take a token at once; it does unless this says no. */
        public Builder batch(boolean functions) {
            build = build.withBatch(functions);
            return this;
        }

        /** Name of the engine. */
        public Builder engine(String name) {
            engine = name;
            return this;
        }

        /** Worker threads of the engine; 0 takes its default. */
        public Builder threads(int count) {
            engineOptions = engineOptions.withThreads(count);
            return this;
        }

        /** Rounding between operations. */
        public Builder numerics(Numerics numerics) {
            engineOptions = engineOptions.withNumerics(numerics);
            return this;
        }

        /** How keys and values are kept between steps. Less than fp32 makes long contexts faster and rounds them. */
        public Builder kvCache(StateStorage storage) {
            engineOptions = engineOptions.withStates(storage);
            return this;
        }

        /** Hardware to run on, for engines that have a choice. */
        public Builder units(ComputeUnits units) {
            engineOptions = engineOptions.withUnits(units);
            return this;
        }

        /** Folder of built models. */
        public Builder cache(Path folder) {
            cache = folder;
            return this;
        }

        /** Hears about a build; by default each stage is a line in the log. */
        public Builder progress(Progress listener) {
            progress = listener;
            return this;
        }

        /** The options. */
        public CausalLMOptions build() {
            return new CausalLMOptions(build, engine, engineOptions, cache, progress);
        }
    }
}
