package dev.torchane.venv;

/** Counts what several threads have done of one stage, and tells it to one listener, one call at a time. */
final class Meter {

    private final InstallProgress listener;
    private long done;

    Meter(InstallProgress listener) {
        this.listener = listener;
    }

    synchronized void stage(String stage, long total, String unit) {
        done = 0;
        listener.stage(stage, total, unit);
    }

    /** So many units more; negative when work is thrown away. */
    synchronized void add(long units) {
        if (units != 0) {
            done += units;
            listener.done(done);
        }
    }
}
