package dev.torchane.cache;

import java.nio.file.Path;
import java.util.Map;

/** Where this library keeps what it builds and downloads. */
public final class CacheRoot {

    /** Environment variable that names another folder. */
    public static final String VARIABLE = "TORCH_ANE_CACHE";

    private CacheRoot() {}

    /** {@code $TORCH_ANE_CACHE}, else {@code ~/Library/Caches/torch-ane} on macOS, else {@code ~/.cache/torch-ane}. */
    public static Path locate() {
        return locate(System.getenv(), System.getProperty("os.name"), Path.of(System.getProperty("user.home")));
    }

    static Path locate(Map<String, String> environment, String os, Path home) {
        String named = environment.getOrDefault(VARIABLE, "");
        if (!named.isBlank()) {
            return Path.of(named).toAbsolutePath();
        }
        if (os.startsWith("Mac")) {
            return home.resolve("Library/Caches/torch-ane");
        }
        String xdg = environment.getOrDefault("XDG_CACHE_HOME", "");
        return (xdg.isBlank() ? home.resolve(".cache") : Path.of(xdg)).resolve("torch-ane");
    }
}
