package dev.torchane.text;

import ai.djl.huggingface.tokenizers.jni.LibUtils;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import dev.torchane.TorchAneException;
import dev.torchane.cache.CacheRoot;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Properties;

/**
 * Hugging Face's Rust tokenizers behind DJL's JNI class. The CPU library is taken out of DJL's jar; DJL's own loader looks
 * for graphics cards, may download and reports home, none of which happens here.
 */
final class NativeTokenizers {

    private static final String FOLDER = "native/lib/";

    private NativeTokenizers() {}

    /** The loaded library. */
    static TokenizersLibrary library() {
        return Holder.LIBRARY;
    }

    private static final class Holder {
        static final TokenizersLibrary LIBRARY = load();
    }

    @SuppressWarnings("restricted") // loading a library is what this class is for
    private static TokenizersLibrary load() {
        Path file = extract();
        System.load(file.toAbsolutePath().toString());
        if (!isLinked()) {
            // The JNI class lives in another class loader than this one: only its own loader can link it.
            System.setProperty("RUST_FLAVOR", "cpu");
            LibUtils.checkStatus();
        }
        return TokenizersLibrary.LIB;
    }

    private static boolean isLinked() {
        try {
            TokenizersLibrary.LIB.createTokenizerFromString("{}");
            return true;
        } catch (UnsatisfiedLinkError e) {
            return false;
        } catch (RuntimeException e) {
            return true; // the library has answered that this is no tokenizer
        }
    }

    private static Path extract() {
        String platform = platform();
        String name = System.mapLibraryName("tokenizers");
        URL resource = TokenizersLibrary.class.getClassLoader().getResource(FOLDER + platform + "/cpu/" + name);
        if (resource == null) {
            throw new TorchAneException("no tokenizer library for " + platform
                    + " in ai.djl.huggingface:tokenizers; there are ones for linux-x86_64, linux-aarch64, osx-aarch64");
        }
        Path target = CacheRoot.locate()
                .resolve("native/tokenizers-" + version() + "-" + platform)
                .resolve(name);
        try {
            URLConnection connection = resource.openConnection();
            connection.setUseCaches(false);
            try (InputStream in = connection.getInputStream()) {
                if (!Files.isRegularFile(target) || Files.size(target) != connection.getContentLengthLong()) {
                    install(in, target);
                }
            }
            return target;
        } catch (IOException e) {
            throw new TorchAneException("cannot unpack the tokenizer library to " + target + ": " + e, e);
        }
    }

    private static void install(InputStream in, Path target) throws IOException {
        Files.createDirectories(target.getParent());
        Path partial =
                Files.createTempFile(target.getParent(), target.getFileName().toString(), ".partial");
        try {
            Files.copy(in, partial, StandardCopyOption.REPLACE_EXISTING);
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    private static String version() {
        Properties properties = new Properties();
        try (InputStream in =
                TokenizersLibrary.class.getClassLoader().getResourceAsStream(FOLDER + "tokenizers.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new TorchAneException("cannot read the version of ai.djl.huggingface:tokenizers: " + e, e);
        }
        return properties.getProperty("version", "unknown");
    }

    private static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String family = os.startsWith("mac") ? "osx" : os.startsWith("windows") ? "win" : "linux";
        return family + "-" + (arch.equals("arm64") ? "aarch64" : arch.equals("amd64") ? "x86_64" : arch);
    }
}
