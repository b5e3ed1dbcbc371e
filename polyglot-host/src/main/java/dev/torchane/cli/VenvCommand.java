package dev.torchane.cli;

import dev.torchane.cache.CacheRoot;
import dev.torchane.engine.coreai.CoreAiEnvironment;
import dev.torchane.venv.CoreAiVenv;
import dev.torchane.venv.Venv;
import dev.torchane.venv.VenvInstaller;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code venv}. */
@Command(
        name = "venv",
        description = "Makes the GraalPy environment with torch and transformers; does nothing when it is up to date.",
        mixinStandardHelpOptions = true)
final class VenvCommand implements Runnable {

    @Option(
            names = "--coreai",
            description = "Make the environment of the engine coreai instead: a CPython 3.11 to 3.14 with coreai-core.")
    private boolean coreai;

    @Option(
            names = "--python",
            paramLabel = "FILE",
            description = "The CPython for --coreai; default the newest on PATH.")
    private Optional<Path> python = Optional.empty();

    @Override
    public void run() {
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            if (coreai) {
                Path made = CoreAiVenv.standard()
                        .install(CoreAiEnvironment.home(), CoreAiEnvironment.VERSION, python, progress.installation());
                progress.finish();
                System.out.println(made);
                return;
            }
            Venv venv = VenvInstaller.standard().install(CacheRoot.locate(), progress.installation());
            progress.finish();
            System.out.println(venv.home());
        }
    }
}
