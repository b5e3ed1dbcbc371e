package dev.torchane.cli.bench;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A report as one page that needs nothing else: a chart of bars for each work, then the tables. */
record Page(Report report) {

    private static final int LABELS = 210;
    private static final int BARS = 420;
    private static final int ROW = 26;

    String html() {
        return """
                <!doctype html>
                <html lang="en">
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width">
                <title>torch-ane for Java: benchmark</title>
                <style>
                body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
                svg { max-width: 100%; height: auto } svg text { font: 13px system-ui, sans-serif; fill: #222 }
                table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .2rem .8rem; border-bottom: 1px solid #ddd; text-align: left }
                td.n { text-align: right; font-variant-numeric: tabular-nums } .missed { color: #a33 } .note { color: #666 }
                </style>
                <h1>SmolLM2-135M-Instruct, this library and its peers</h1>
                """
                + "<p>" + escape(report.machine()) + "; " + LocalDate.now(ZoneOffset.UTC)
                + ". Medians of interleaved rounds; the lines at the ends of the bars span the rounds.</p>\n"
                + charts() + rows() + promises() + roofs() + contenders() + "</html>\n";
    }

    private String charts() {
        StringBuilder charts = new StringBuilder();
        for (Work work : Work.values()) {
            if (!report.results().of(work).isEmpty()) {
                charts.append("<h2>").append(work.id()).append("</h2>\n").append(chart(work));
            }
        }
        return charts.toString();
    }

    private String chart(Work work) {
        Map<Contender, java.util.List<Double>> figures = report.results().of(work);
        double most = figures.values().stream()
                .flatMap(java.util.List::stream)
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(1);
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"%s\">%n",
                LABELS + BARS + 130,
                figures.size() * ROW,
                LABELS + BARS + 130,
                work.id()));
        int y = 0;
        for (Contender contender : figures.keySet().stream()
                .sorted(java.util.Comparator.comparing(Contender::ours).reversed())
                .toList()) {
            java.util.List<Double> values = figures.get(contender);
            double scale = BARS / most;
            double median = Results.median(values) * scale;
            double low = values.stream().min(Double::compare).orElse(0.0) * scale;
            double high = values.stream().max(Double::compare).orElse(0.0) * scale;
            svg.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>"
                            + "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"16\" fill=\"%s\"/>"
                            + "<path d=\"M%.1f %dH%.1f\" stroke=\"#222\"/>"
                            + "<text x=\"%.1f\" y=\"%d\">%.2f %s</text>%n",
                    LABELS - 8,
                    y + 16,
                    escape(contender.name()),
                    LABELS,
                    y + 3,
                    median,
                    contender.ours() ? "#2a6fb0" : "#b9c4cf",
                    LABELS + low,
                    y + 11,
                    LABELS + high,
                    LABELS + Math.max(high, median) + 8,
                    y + 16,
                    Results.median(values),
                    work.unit()));
            y += ROW;
        }
        return svg.append("</svg>\n").toString();
    }

    private String rows() {
        return "<h2>Ratios</h2>\n<p class=\"note\">Above 1, this library is better.</p>\n<table>"
                + "<tr><th>work</th><th>peer</th><th>ours</th><th>theirs</th><th>unit</th><th>ratio</th><th>goal</th></tr>\n"
                + report.results().rows().stream()
                        .map(row -> String.format(
                                Locale.ROOT,
                                "<tr><td>%s</td><td>%s</td><td class=\"n\">%.2f</td><td class=\"n\">%.2f</td><td>%s</td>"
                                        + "<td class=\"n\">%.2f</td><td class=\"%s\">%s</td></tr>%n",
                                row.work().id(),
                                escape(row.peer()),
                                row.ours(),
                                row.theirs(),
                                row.work().unit(),
                                row.ratio(),
                                row.reached() ? "" : "missed",
                                row.goal().isEmpty() ? "" : goal(row.goal().getAsDouble(), row.reached())))
                        .collect(Collectors.joining())
                + "</table>\n";
    }

    private static String goal(double goal, boolean reached) {
        return String.format(Locale.ROOT, "%.2f%s", goal, reached ? "" : ", not reached");
    }

    private String promises() {
        return "<table>"
                + report.results().promises().stream()
                        .map(promise -> String.format(
                                Locale.ROOT,
                                "<tr><td>%s</td><td class=\"n\">%.2f</td><td class=\"%s\">%s</td></tr>%n",
                                promise.text(),
                                promise.found(),
                                promise.reached() ? "" : "missed",
                                goal(promise.goal(), promise.reached())))
                        .collect(Collectors.joining())
                + "</table>\n";
    }

    private String roofs() {
        return "<h2>The machine's limits</h2>\n<table>"
                + report.roofs().stream()
                        .map(roof -> String.format(
                                Locale.ROOT,
                                "<tr><td>%s</td><td class=\"n\">%.1f</td><td>%s</td><td>%s</td></tr>%n",
                                roof.name(),
                                roof.found(),
                                roof.unit(),
                                roof.limit() == 0
                                        ? ""
                                        : String.format(
                                                Locale.ROOT,
                                                "%.0f %% of the limit",
                                                100 * roof.found() / roof.limit())))
                        .collect(Collectors.joining())
                + "</table>\n";
    }

    private String contenders() {
        return "<h2>Versions</h2>\n<table>" + pairs(report.versions()) + "</table>\n<h2>Not measured</h2>\n<table>"
                + pairs(report.skipped()) + "</table>\n";
    }

    private static String pairs(Map<String, String> pairs) {
        return pairs.entrySet().stream()
                .map(pair ->
                        "<tr><td>" + escape(pair.getKey()) + "</td><td>" + escape(pair.getValue()) + "</td></tr>\n")
                .collect(Collectors.joining());
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }
}
