package dev.torchane.llm;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** One token is computed, of one stream or of each in a batch. */
@Name("dev.torchane.Step")
@Label("Step")
@Category({"torch-ane", "Generation"})
@Description("One token of each stream is fed")
@StackTrace(false)
final class StepEvent extends Event {

    @Label("Position")
    @Description("Columns of the KV state that are taken before this one")
    int position;

    @Label("Rung")
    @Description("Columns of the KV state")
    int rung;

    @Label("Streams")
    @Description("Streams that take a token")
    int streams = 1;
}
