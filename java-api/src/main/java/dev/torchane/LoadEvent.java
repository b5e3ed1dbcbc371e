package dev.torchane;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A bundle is opened and loaded into an engine. */
@Name("dev.torchane.Load")
@Label("Load")
@Category({"torch-ane", "Model"})
@StackTrace(false)
final class LoadEvent extends Event {

    @Label("Bundle")
    String bundle;

    @Label("Engine")
    String engine;

    @Label("Runs on")
    String runsOn;
}
