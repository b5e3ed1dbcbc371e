package dev.torchane;

import dev.torchane.build.Progress;

/** Records each stage of a build as an event of Java Flight Recorder; a stage ends when the next one begins. */
final class RecordedStages implements Progress, AutoCloseable {

    private final String model;
    private final Progress next;
    private BuildStageEvent current = new BuildStageEvent();

    RecordedStages(String model, Progress next) {
        this.model = model;
        this.next = next;
    }

    @Override
    public void stage(String stage, long total, String unit) {
        close();
        BuildStageEvent begun = new BuildStageEvent();
        begun.model = model;
        begun.stage = stage;
        begun.begin();
        current = begun;
        next.stage(stage, total, unit);
    }

    @Override
    public void done(long units) {
        next.done(units);
    }

    /** Ends the last stage. */
    @Override
    public void close() {
        if (current.stage != null) {
            current.commit();
            current = new BuildStageEvent();
        }
    }
}
