package dev.torchane.cli.bench;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/** Measures {@code ./torch-ane run} from its start to the first byte of the answer. */
final class StartProbe {

    private final List<String> command;

    /**
     * @param script {@code ./torch-ane}
     */
    StartProbe(Path script, Path bundle, String question, int threads) {
        this.command = List.of(
                script.toString(),
                "run",
                bundle.toString(),
                question,
                "--max-tokens",
                "1",
                "--threads",
                String.valueOf(threads));
    }

    /** Seconds. */
    double measure() {
        try {
            long began = System.nanoTime();
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (InputStream out = process.getInputStream()) {
                int first = out.read();
                double seconds = (System.nanoTime() - began) / 1e9;
                out.readAllBytes();
                if (first < 0 || process.waitFor() != 0) {
                    throw new TorchAneException(String.join(" ", command) + " gave no answer");
                }
                return seconds;
            } finally {
                process.destroy();
            }
        } catch (IOException failure) {
            throw new TorchAneException("cannot run " + command.getFirst() + ": " + failure.getMessage(), failure);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new TorchAneException("stopped", stopped);
        }
    }
}
