package dev.torchane.cli;

import dev.torchane.cache.CacheRoot;
import dev.torchane.venv.Venv;
import dev.torchane.venv.VenvInstaller;
import picocli.CommandLine.Command;

/** {@code venv}. */
@Command(
        name = "venv",
        description = "Makes the GraalPy environment with torch and transformers; does nothing when it is up to date.",
        mixinStandardHelpOptions = true)
final class VenvCommand implements Runnable {

    @Override
    public void run() {
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            Venv venv = VenvInstaller.standard().install(CacheRoot.locate(), progress.installation());
            progress.finish();
            System.out.println(venv.home());
        }
    }
}
