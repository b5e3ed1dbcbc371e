package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.Progress;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.HostAccess;
import org.graalvm.polyglot.PolyglotException;

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

    /**
     * {@code foreign}: another context loads natives first; {@code beside}: another context of pure Python was there before
     * and stays, and tries natives afterwards; {@code alone}: just starts and computes.
     */
    public static void main(String[] args) {
        PythonSettings settings = PythonSettings.locate(Progress.none());
        switch (args[0]) {
            case "foreign" -> {
                foreign(settings).eval("python", "import regex");
                sum(settings);
            }
            case "beside" -> beside(settings);
            default -> sum(settings);
        }
    }

    private static void beside(PythonSettings settings) {
        Context foreign = foreign(settings);
        System.out.println("foreign " + foreign.eval("python", "sum(range(5))").asInt());
        sum(settings);
        System.out.println("foreign " + foreign.eval("python", "sum(range(6))").asInt());
        try {
            foreign.eval("python", "import regex");
            System.out.println("natives loaded");
        } catch (PolyglotException e) {
            System.out.println("natives refused");
        }
        sum(settings);
    }

    private static Context foreign(PythonSettings settings) {
        return Context.newBuilder("python")
                .allowAllAccess(true)
                .allowExperimentalOptions(true)
                .option("python.PosixModuleBackend", "native")
                .option("python.PythonPath", settings.sitePackages().toString())
                .option("python.Executable", settings.launcher().toString())
                .build();
    }

    private static void sum(PythonSettings settings) {
        try {
            double sum = PythonHost.start(settings)
                    .call(python -> python.define(SOURCE, Sum.class).sum());
            System.out.println("sum " + sum);
        } catch (TorchAneException e) {
            System.out.println("refused: " + e.getMessage());
        }
    }
}
