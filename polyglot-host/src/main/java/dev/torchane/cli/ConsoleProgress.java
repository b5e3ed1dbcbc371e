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

/**
 * Shows stages on a terminal as bars with the time left. Elsewhere a stage is a line when it begins, one more for every ten
 * seconds with the time left where that is known, and one with the time it took.
 */
public final class ConsoleProgress implements Progress, AutoCloseable {

    private static final long BETWEEN_LINES = Duration.ofSeconds(10).toNanos();

    private final PrintStream out;
    private final boolean terminal;
    private ProgressBar bar;
    private final List<String> finished = new ArrayList<>();
    private String stage = "";
    private long total;
    private long began;
    private long printed;

    /**
     * @param out where lines go; bars go to the terminal
     */
    public ConsoleProgress(PrintStream out) {
        this(out, System.console() != null && System.console().isTerminal());
    }

    ConsoleProgress(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    @Override
    public void stage(String name, long total, String unit) {
        finish();
        stage = name;
        this.total = total;
        began = System.nanoTime();
        printed = began;
        if (!terminal) {
            out.println("  " + name + " ...");
        } else {
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
            return;
        }
        long now = System.nanoTime();
        if (!terminal && now - printed >= BETWEEN_LINES && units > 0 && units < total) {
            printed = now;
            out.println(remaining(stage, units, total, now - began));
        }
    }

    /** How much of a stage is done, and how long the rest takes at the same pace. */
    static String remaining(String stage, long units, long total, long nanos) {
        return String.format(
                Locale.ROOT,
                "  %s: %d %%, about %.0f s left",
                stage,
                100 * units / total,
                nanos / 1e9 * (total - units) / units);
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
