package dev.torchane.cli.bench;

import dev.torchane.engine.jvm.AttentionBenchmark;
import dev.torchane.engine.jvm.LinearBenchmark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs the kernels' benchmarks, one thread, and prints how far the median of each is from what the machine can do. */
public final class KernelBench {

    private KernelBench() {}

    /**
     * @param arguments a folder that receives {@code kernels.csv}, and optionally a regular expression of benchmarks to run
     */
    public static void main(String[] arguments) throws RunnerException, IOException {
        Roofline roofline = Roofline.measure(1);
        String wanted = arguments.length > 1 ? arguments[1] : "(Linear|Attention)Benchmark";
        List<String> lines = new ArrayList<>();
        lines.add("kernel,microseconds,GB/s,GFLOP/s,share of roof");
        for (RunResult result : new Runner(new OptionsBuilder()
                        .include(wanted)
                        .forks(1)
                        .verbosity(VerboseMode.SILENT)
                        .jvmArgsAppend("--add-modules=jdk.incubator.vector", "-XX:+UseParallelGC")
                        .build())
                .run()) {
            lines.add(line(result, roofline));
        }
        String machine = String.format(
                Locale.ROOT,
                "# %s; one thread reads %.1f GB/s of memory in order and does %.0f GFLOP/s in registers",
                Machine.describe(1),
                roofline.bytesPerSecond() / 1e9,
                roofline.flopsPerSecond() / 1e9);
        lines.addFirst(machine);
        lines.forEach(System.out::println);
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        Files.write(folder.resolve("kernels.csv"), lines);
    }

    /** The roof of a kernel is the slower of the two: its memory at full bandwidth, or its arithmetic at full rate. */
    private static String line(RunResult result, Roofline roofline) {
        BenchmarkParams parameters = result.getParams();
        String form = parameters.getParam("form");
        boolean linear = parameters.getBenchmark().contains(LinearBenchmark.class.getSimpleName());
        String size = parameters.getParam(linear ? "rows" : "context");
        double[] work = linear
                ? LinearBenchmark.work(form, Integer.parseInt(size))
                : AttentionBenchmark.work(form, Integer.parseInt(size));
        double seconds = result.getPrimaryResult().getStatistics().getPercentile(50) / 1e9;
        double least = Math.max(work[0] / roofline.bytesPerSecond(), work[1] / roofline.flopsPerSecond());
        return String.format(
                Locale.ROOT,
                "%s,%.1f,%.1f,%.1f,%.2f",
                (linear ? "linear " : "attention ") + form.toLowerCase(Locale.ROOT) + " "
                        + (linear ? size + " rows" : size + " columns"),
                seconds * 1e6,
                work[0] / seconds / 1e9,
                work[1] / seconds / 1e9,
                least / seconds);
    }
}
