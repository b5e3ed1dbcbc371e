package dev.torchane.venv;

/**
 * Hears how far an installation has come. Calls come one at a time, though not always from the same thread, and must
 * return quickly. The time left follows from {@code total} and the units done.
 */
public interface InstallProgress {

    /**
     * A stage has begun; the one before it is done.
     *
     * @param stage what is being done, for people: {@code download 4 libraries of torch}
     * @param total units of work, or 0 when unknown
     * @param unit what is counted: {@code bytes}
     */
    void stage(String stage, long total, String unit);

    /** So many units of the current stage are done, in all. */
    void done(long units);

    /** Hears nothing. */
    static InstallProgress none() {
        return new InstallProgress() {
            @Override
            public void stage(String stage, long total, String unit) {}

            @Override
            public void done(long units) {}
        };
    }
}
