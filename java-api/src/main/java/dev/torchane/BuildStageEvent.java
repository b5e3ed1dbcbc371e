package dev.torchane;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A stage of a build. */
@Name("dev.torchane.BuildStage")
@Label("Build Stage")
@Category({"torch-ane", "Model"})
@StackTrace(false)
final class BuildStageEvent extends Event {

    @Label("Model")
    String model;

    @Label("Stage")
    String stage;
}
