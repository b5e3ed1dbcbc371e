package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.Progress;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.HostAccess;

/** Programs for {@link OwnProcessTest}: each needs a process in which Python has not started yet. */
final class HostInItsOwnProcess {

    private HostInItsOwnProcess() {}

    @HostAccess.Implementable
    interface Sum {
        double sum();
    }

    private static final String SOURCE = """
            import torch


            def sum():
                return torch.arange(5.0).sum().item()
            """;

    /** {@code foreign}: another context loads natives first; {@code alone}: just starts and computes. */
    public static void main(String[] args) {
        PythonSettings settings = PythonSettings.locate(Progress.none());
        if (args[0].equals("foreign")) {
            Context foreign = Context.newBuilder("python")
                    .allowAllAccess(true)
                    .allowExperimentalOptions(true)
                    .option("python.PosixModuleBackend", "native")
                    .option("python.PythonPath", settings.sitePackages().toString())
                    .option("python.Executable", settings.launcher().toString())
                    .build();
            foreign.eval("python", "import regex");
        }
        try {
            double sum = PythonHost.start(settings)
                    .call(python -> python.define(SOURCE, Sum.class).sum());
            System.out.println("sum " + sum);
        } catch (TorchAneException e) {
            System.out.println("refused: " + e.getMessage());
        }
    }
}
