package dev.torchane.text;

import dev.torchane.TorchAneException;
import dev.torchane.weights.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** Puts a checkpoint's tokenizer into a bundle. */
public final class TokenizerFiles {

    private static final List<String> COPIED = List.of(
            "tokenizer.json",
            "tokenizer_config.json",
            "special_tokens_map.json",
            "generation_config.json",
            "chat_template.jinja",
            "chat_template.json");

    private TokenizerFiles() {}

    /**
     * Opens the checkpoint's tokenizer and closes it again, so that a damaged one is known before a build begins.
     *
     * @param checkpoint an open checkpoint
     * @throws TorchAneException when it has a tokenizer that cannot be used
     */
    public static void check(Checkpoint checkpoint) {
        try {
            if (checkpoint.gguf().isPresent()) {
                Path directory = Files.createTempDirectory("torch-ane-tokenizer");
                try {
                    if (write(checkpoint, directory)) {
                        Tokenizer.open(directory).close();
                    }
                } finally {
                    for (String name : COPIED) {
                        Files.deleteIfExists(directory.resolve(name));
                    }
                    Files.delete(directory);
                }
                return;
            }
            for (Path file : checkpoint.files()) {
                if (file.getFileName().toString().equals("tokenizer.json")) {
                    Tokenizer.open(file.toAbsolutePath().getParent()).close();
                }
            }
        } catch (IOException e) {
            throw new TorchAneException("cannot check the tokenizer of " + checkpoint.path() + ": " + e, e);
        }
    }

    /**
     * Writes what {@link Tokenizer#open} reads: copies of the checkpoint's own files, or files made from a GGUF's
     * vocabulary.
     *
     * @param checkpoint an open checkpoint
     * @param directory an existing directory
     * @return whether the checkpoint has a tokenizer; without one nothing is written
     * @throws TorchAneException when a GGUF's tokenizer is of a kind that is not read, or a file cannot be written
     */
    public static boolean write(Checkpoint checkpoint, Path directory) {
        try {
            if (checkpoint.gguf().isPresent()) {
                return new GgufTokenizer(checkpoint.path(), checkpoint.gguf().get()).write(directory);
            }
            boolean found = false;
            for (Path file : checkpoint.files()) {
                String name = file.getFileName().toString();
                if (COPIED.contains(name)) {
                    Files.copy(file, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
                    found |= name.equals("tokenizer.json");
                } else if (file.toAbsolutePath().getParent().endsWith(TokenizerConfig.TEMPLATES)) {
                    Path folder = Files.createDirectories(directory.resolve(TokenizerConfig.TEMPLATES));
                    Files.copy(file, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
                }
            }
            return found;
        } catch (IOException e) {
            throw new TorchAneException("cannot write the tokenizer of " + checkpoint.path() + ": " + e, e);
        }
    }
}
