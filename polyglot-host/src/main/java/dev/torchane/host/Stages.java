package dev.torchane.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.torchane.build.Progress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Passes progress on, and keeps what each stage took. */
final class Stages implements ProgressSink {

    private final Progress progress;
    private final Map<String, Double> seconds = new LinkedHashMap<>();

    Stages(Progress progress) {
        this.progress = progress;
    }

    @Override
    public void stage(String stage, long total, String unit) {
        progress.stage(stage, total, unit);
    }

    @Override
    public void done(long units) {
        progress.done(units);
    }

    /** Announces a stage, does it, and notes its time under {@code key}. */
    <T> T timed(String key, String stage, java.util.function.Supplier<T> work) {
        progress.stage(stage, 0, "");
        long begin = System.nanoTime();
        try {
            return work.get();
        } finally {
            add(key, (System.nanoTime() - begin) / 1e9);
        }
    }

    /** Notes time that was measured elsewhere. */
    void add(String key, double more) {
        seconds.merge(key, more, Double::sum);
    }

    /** What a report without numbers is. */
    JsonNode nothing() {
        return MissingNode.getInstance();
    }

    /** Seconds by stage, in the order in which they began. */
    Map<String, Double> seconds() {
        return Collections.unmodifiableMap(seconds);
    }
}
