package dev.torchane.build;

/** Hears how far a long step has come. Called from the thread that works; must return quickly. */
public interface Progress {

    /**
     * A stage has begun.
     *
     * @param stage what is being done, for people: {@code export decode_512}
     * @param total units of work, or 0 when unknown
     * @param unit what is counted: {@code bytes}, {@code layers}
     */
    void stage(String stage, long total, String unit);

    /** So many units of the current stage are done, in all. */
    void done(long units);

    /** Writes a line to the log {@code dev.torchane.build} when a stage begins: a build takes minutes. */
    static Progress logged() {
        System.Logger log = System.getLogger("dev.torchane.build");
        return new Progress() {
            @Override
            public void stage(String stage, long total, String unit) {
                log.log(System.Logger.Level.INFO, stage);
            }

            @Override
            public void done(long units) {}
        };
    }

    /** Hears nothing. */
    static Progress none() {
        return new Progress() {
            @Override
            public void stage(String stage, long total, String unit) {}

            @Override
            public void done(long units) {}
        };
    }
}
