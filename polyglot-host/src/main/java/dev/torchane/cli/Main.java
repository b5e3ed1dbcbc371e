package dev.torchane.cli;

import dev.torchane.TorchAneException;
import dev.torchane.cli.bench.BenchCommand;
import dev.torchane.cli.bench.WorkerCommand;
import dev.torchane.venv.VenvException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Entry point of {@code ./torch-ane}. */
@Command(
        name = "torch-ane",
        description = "PyTorch models on the Apple Neural Engine, from Java.",
        mixinStandardHelpOptions = true,
        version = "torch-ane 0.1.0",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            DemoCommand.class,
            RunCommand.class,
            ImageCommand.class,
            EmbedCommand.class,
            BuildCommand.class,
            CompileCommand.class,
            InspectCommand.class,
            ExportCommand.class,
            MilCommand.class,
            QualityCommand.class,
            BenchCommand.class,
            WorkerCommand.class,
            VenvCommand.class,
            CommandLine.HelpCommand.class
        },
        footer = {
            "",
            "Of the script ./torch-ane itself:",
            "  jshell [FILE...]  a JShell with the library loaded",
            "  test [--full]     the tests"
        })
public final class Main {

    @Option(names = "--verbose", scope = CommandLine.ScopeType.INHERIT, description = "Print stack traces of errors.")
    private boolean verbose;

    private Main() {}

    /** Runs a command; exits with 0, 1 for a failure, 2 for a command line that is not understood. */
    public static void main(String[] arguments) {
        Main main = new Main();
        CommandLine line = new CommandLine(main);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpAutoWidth(true);
        line.setExecutionExceptionHandler((failure, command, parsed) -> main.report(failure, command.getErr()));
        line.setParameterExceptionHandler((failure, rest) -> notUnderstood(failure));
        System.exit(line.execute(arguments));
    }

    /** What is wrong stays in sight: the synopsis alone follows it, except where the commands are what has to be known. */
    private static int notUnderstood(CommandLine.ParameterException failure) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("torch-ane: " + failure.getMessage());
        CommandLine.UnmatchedArgumentException.printSuggestions(failure, err);
        if (command.getParent() == null) {
            command.usage(err);
        } else {
            err.print("usage: " + command.getHelp().synopsis("usage: ".length()));
            err.println("       ./" + command.getCommandSpec().qualifiedName() + " --help says more");
        }
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    private int report(Exception failure, PrintWriter err) {
        boolean expected = failure instanceof TorchAneException
                || failure instanceof VenvException
                || failure instanceof IllegalArgumentException
                || failure instanceof IllegalStateException;
        err.println("torch-ane: " + (expected ? failure.getMessage() : failure.toString()));
        if (verbose || !expected) {
            failure.printStackTrace(err);
        } else if (failure.getCause() != null) {
            err.println("(--verbose shows the cause)");
        }
        return 1;
    }
}
