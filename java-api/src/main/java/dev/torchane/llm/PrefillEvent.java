package dev.torchane.llm;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A prompt, or a part of one, is computed. */
@Name("dev.torchane.Prefill")
@Label("Prefill")
@Category({"torch-ane", "Generation"})
@Description("Several tokens are fed at once")
@StackTrace(false)
final class PrefillEvent extends Event {

    @Label("Tokens")
    int tokens;

    @Label("Position")
    @Description("Tokens of the context before these")
    int position;

    @Label("Rung")
    @Description("Columns of the KV state")
    int rung;
}
