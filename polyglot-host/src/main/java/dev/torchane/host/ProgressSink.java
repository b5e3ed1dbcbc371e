package dev.torchane.host;

import org.graalvm.polyglot.HostAccess;

/** Hears how far a step has come: {@code torch_ane.sinks.Progress}. */
public interface ProgressSink {

    @HostAccess.Export
    void stage(String stage, long total, String unit);

    @HostAccess.Export
    void done(long units);
}
