package dev.torchane;

import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleSource;
import dev.torchane.cache.CacheRoot;
import dev.torchane.cache.ModelCache;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The library as a whole: compiles modules, says where its cache is, and keeps it small. */
public final class TorchAne {

    static final String HOST_ARTIFACT = "dev.torchane:torch-ane-polyglot-host";

    private TorchAne() {}

    /**
     * Compiles a module for one set of inputs, with the default options.
     *
     * @see #compile(ModuleSource, List, CompileOptions)
     */
    public static CompiledModule compile(ModuleSource source, ModuleInputs inputs) {
        return compile(source, List.of(Arguments.given(inputs, "inputs")), CompileOptions.defaults());
    }

    /**
     * Compiles a module into the cache, unless it is there already, and loads it. Building runs Python in this process; of a
     * {@link ModuleSource.Factory} it runs the user's code.
     *
     * @param shapes inputs of each function, at least one; all functions share the module's weights
     * @throws TorchAneException when the source is unusable, when the module has an operation that cannot be lowered (the message
     *     names it and its place), or when it is not built yet and the artifact that builds is not on the class path
     */
    public static CompiledModule compile(ModuleSource source, List<ModuleInputs> shapes, CompileOptions options) {
        return cached(source, shapes, options)
                .open(bundle -> CompiledModule.open(bundle, Optional.of(source), options));
    }

    /** The bundle of a module in the cache, built when it is not there yet. */
    public static Path build(ModuleSource source, List<ModuleInputs> shapes, CompileOptions options) {
        return cached(source, shapes, options).entry();
    }

    private static CachedBuild cached(ModuleSource source, List<ModuleInputs> shapes, CompileOptions options) {
        Arguments.given(source, "source");
        Arguments.given(options, "options");
        List<ModuleInputs> functions = List.copyOf(Arguments.given(shapes, "shapes"));
        if (functions.isEmpty()) {
            throw new IllegalArgumentException("a module is compiled for at least one set of inputs");
        }
        SortedMap<String, String> text = new TreeMap<>(options.build().asText());
        text.putAll(source.asText());
        text.put("shapes", functions.toString());
        return new CachedBuild(
                source.title(),
                options.cache(),
                source.files(),
                text,
                CachedBuild.exporter(),
                (exporter, directory) -> {
                    try (RecordedStages stages = new RecordedStages(source.title(), options.progress())) {
                        exporter.exportModule(source, functions, options.build(), directory, stages);
                    }
                });
    }

    /** Folder of built models and downloads: {@code $TORCH_ANE_CACHE}, else the user's cache folder. */
    public static Path cacheDir() {
        return CacheRoot.locate();
    }

    /**
     * Deletes the built models used longest ago until the rest takes at most {@code maxBytes}.
     *
     * @return what was deleted
     */
    public static List<Path> pruneCache(long maxBytes) {
        return new ModelCache(cacheDir()).prune(maxBytes);
    }
}
