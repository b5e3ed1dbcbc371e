package dev.torchane.cli.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a run has found, as a table, JSON, CSV and a page.
 *
 * @param versions of the contenders
 * @param skipped why others were not measured
 * @param roofs what the machine can do, and how far we are from it
 */
record Report(
        Results results, String machine, Map<String, String> versions, Map<String, String> skipped, List<Roof> roofs) {

    void print(PrintStream out) {
        out.printf(
                Locale.ROOT, "%n%-19s %-24s %10s %10s  %-6s %6s%n", "work", "peer", "ours", "theirs", "unit", "ratio");
        for (Results.Row row : results.rows()) {
            out.printf(
                    Locale.ROOT,
                    "%-19s %-24s %10.2f %10.2f  %-6s %6.2f%s%n",
                    row.work().id(),
                    row.peer(),
                    row.ours(),
                    row.theirs(),
                    row.work().unit(),
                    row.ratio(),
                    row.goal().isEmpty() ? "" : goal(row.goal().getAsDouble(), row.reached()));
        }
        for (Results.Promise promise : results.promises()) {
            out.printf(
                    Locale.ROOT,
                    "%-44s %34.2f%s%n",
                    promise.text(),
                    promise.found(),
                    goal(promise.goal(), promise.reached()));
        }
        out.println();
        roofs.forEach(out::println);
        out.println();
        versions.forEach((name, version) -> out.println(name + ": " + version));
        skipped.forEach((name, reason) -> out.println("SKIPPED " + name + ": " + reason));
    }

    static String goal(double goal, boolean reached) {
        return String.format(Locale.ROOT, "  (goal %.2f%s)", goal, reached ? "" : ", not reached");
    }

    void write(Path folder) {
        try {
            Files.createDirectories(folder);
            new ObjectMapper()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .writeValue(folder.resolve("latest.json").toFile(), json());
            Files.writeString(folder.resolve("latest.csv"), csv());
            Files.writeString(folder.resolve("latest.html"), new Page(this).html());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private List<Map<String, Object>> json() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Results.Row row : results.rows()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("work", row.work().id());
            fields.put("peer", row.peer());
            fields.put("ours", rounded(row.ours()));
            fields.put("theirs", rounded(row.theirs()));
            fields.put("unit", row.work().unit());
            fields.put("ratio", rounded(row.ratio()));
            fields.put("machine", machine);
            rows.add(fields);
        }
        return rows;
    }

    private static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }

    /** A line for each work and contender: the median, its spread, the figure of each round. */
    private String csv() {
        StringBuilder csv = new StringBuilder("work,contender,unit,median,spread,rounds,version\n");
        for (Work work : Work.values()) {
            results.of(work)
                    .forEach((contender, values) -> csv.append(String.format(
                            Locale.ROOT,
                            "%s,%s,%s,%.3f,%.3f,%s,\"%s\"%n",
                            work.id(),
                            contender.name(),
                            work.unit(),
                            Results.median(values),
                            Results.spread(values),
                            String.join(
                                    " ",
                                    values.stream()
                                            .map(value -> String.format(Locale.ROOT, "%.3f", value))
                                            .toList()),
                            versions.getOrDefault(contender.name(), ""))));
        }
        return csv.toString();
    }
}
