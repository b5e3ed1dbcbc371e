package dev.torchane;

import dev.torchane.cache.CacheRoot;
import dev.torchane.cache.ModelCache;
import java.nio.file.Path;
import java.util.List;

/** The library as a whole: where its cache is, and how to keep it small. */
public final class TorchAne {

    private TorchAne() {}

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
