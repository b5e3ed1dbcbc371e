package dev.torchane.host;

import dev.torchane.build.BuildOptions;
import dev.torchane.build.Target;
import dev.torchane.program.DType;
import dev.torchane.text.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** The tokens on which the scales of an fp16 program are chosen: a short text in the model's own vocabulary. */
final class Calibration {

    private static final System.Logger LOGGER = System.getLogger("dev.torchane.build");
    private static final String TEXT = "calibration.txt";
    private static final int TOKENS = 192;

    private Calibration() {}

    /** Whether a build of these options has scales to choose. */
    static boolean needed(BuildOptions options) {
        return options.precision() == DType.FP16 && options.target() != Target.CPU;
    }

    /**
     * The tokens, by the tokenizer in a bundle's directory. Without one there are none: fixed ids are taken then, a warning says so,
     * and the manifest does too.
     */
    static int[] ids(Path directory) {
        if (!Files.exists(directory.resolve("tokenizer.json"))) {
            LOGGER.log(
                    Level.WARNING,
                    "there is no tokenizer: the scales of the fp16 program are chosen on fixed token ids, not on text");
            return new int[0];
        }
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            int[] ids = tokenizer.encode(text());
            return Arrays.copyOf(ids, Math.min(ids.length, TOKENS));
        }
    }

    private static String text() {
        try (var stream = Calibration.class.getResourceAsStream(TEXT)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
