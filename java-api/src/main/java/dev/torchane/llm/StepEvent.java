package dev.torchane.llm;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** One token is computed. */
@Name("dev.torchane.Step")
@Label("Step")
@Category({"torch-ane", "Generation"})
@Description("One token is fed")
@StackTrace(false)
final class StepEvent extends Event {

    @Label("Position")
    @Description("Tokens of the context before this one")
    int position;

    @Label("Rung")
    @Description("Columns of the KV state")
    int rung;
}
