package dev.torchane.cli;

import dev.torchane.build.Progress;
import dev.torchane.venv.InstallProgress;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Shows stages on a terminal as bars with the time left, elsewhere as a line each with the time it took. */
final class ConsoleProgress implements Progress, AutoCloseable {

    private final PrintStream out;
    private final boolean terminal;
    private ProgressBar bar;
    private final List<String> finished = new ArrayList<>();
    private String stage = "";
    private long began;

    ConsoleProgress(PrintStream out) {
        this.out = out;
        this.terminal = System.console() != null && System.console().isTerminal();
    }

    @Override
    public void stage(String name, long total, String unit) {
        finish();
        stage = name;
        began = System.nanoTime();
        if (terminal) {
            bar = new ProgressBarBuilder()
                    .setTaskName(name)
                    .setInitialMax(total == 0 ? -1 : total)
                    .setUnit(" " + (unit.equals("bytes") ? "MB" : unit), unit.equals("bytes") ? 1_000_000 : 1)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUpdateIntervalMillis(500)
                    .build();
        }
    }

    @Override
    public void done(long units) {
        if (bar != null) {
            bar.stepTo(units);
        }
    }

    /** The last stage is done. */
    void finish() {
        if (stage.isEmpty()) {
            return;
        }
        double seconds = Duration.ofNanos(System.nanoTime() - began).toMillis() / 1000.0;
        String line = String.format(Locale.ROOT, "  %-56s %7.1f s", stage, seconds);
        finished.add(line);
        if (bar != null) {
            bar.close();
            bar = null;
        } else {
            out.println(line);
        }
        stage = "";
    }

    /** The same bars for the installer of the environment. */
    InstallProgress installation() {
        return new InstallProgress() {
            @Override
            public void stage(String name, long total, String unit) {
                ConsoleProgress.this.stage(name, total, unit);
            }

            @Override
            public void done(long units) {
                ConsoleProgress.this.done(units);
            }
        };
    }

    /** On a terminal, where bars do not stay, prints the time of each stage. */
    void summary() {
        if (terminal) {
            finished.forEach(out::println);
        }
    }

    @Override
    public void close() {
        finish();
    }
}
