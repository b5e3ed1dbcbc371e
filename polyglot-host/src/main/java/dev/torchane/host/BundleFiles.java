package dev.torchane.host;

import dev.torchane.program.BundleWriter;
import dev.torchane.text.TokenizerFiles;
import dev.torchane.weights.Checkpoint;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** What travels with a bundle besides program and weights: configuration, tokenizer, chat template. */
final class BundleFiles {

    private static final System.Logger LOGGER = System.getLogger(BundleFiles.class.getName());

    private BundleFiles() {}

    /** Writes them. Without a tokenizer the bundle takes and gives token ids only; a warning says so. */
    static void write(Checkpoint checkpoint, BundleWriter bundle, Path directory) {
        bundle.file("config.json", checkpoint.configJson().getBytes(StandardCharsets.UTF_8));
        if (!TokenizerFiles.write(checkpoint, directory)) {
            LOGGER.log(
                    Level.WARNING,
                    "{0} has no tokenizer.json: its bundle works on token ids, not on text",
                    checkpoint.path());
        }
    }
}
