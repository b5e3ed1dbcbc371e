package dev.torchane;

import dev.torchane.build.ModuleOptions;
import dev.torchane.build.Progress;
import dev.torchane.build.Target;
import dev.torchane.build.WeightEncoding;
import dev.torchane.cache.CacheRoot;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.program.DType;
import java.nio.file.Path;

/**
 * How a module is compiled and loaded. Make one with {@link #defaults()} or {@link #builder()}.
 *
 * @param build what the bundle contains
 * @param engine name of the engine: {@code jvm}
 * @param engineOptions how the engine loads it
 * @param cache folder of compiled modules
 * @param progress hears about a build
 */
public record CompileOptions(
        ModuleOptions build, String engine, EngineOptions engineOptions, Path cache, Progress progress) {

    public CompileOptions {
        Arguments.given(build, "build");
        Arguments.given(engine, "engine");
        Arguments.given(engineOptions, "engineOptions");
        Arguments.given(cache, "cache");
        Arguments.given(progress, "progress");
    }

    /** Target cpu, fp32 activations and weights, engine {@code jvm}. */
    public static CompileOptions defaults() {
        return builder().build();
    }

    /** A builder that starts with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects options; each method returns the builder. */
    public static final class Builder {

        private ModuleOptions build = ModuleOptions.defaults().withTarget(Target.byDefault());
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

        /** Folder of compiled modules. */
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
        public CompileOptions build() {
            return new CompileOptions(build, engine, engineOptions, cache, progress);
        }
    }
}
