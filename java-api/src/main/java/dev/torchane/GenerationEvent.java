package dev.torchane;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A generation from its options to its result. */
@Name("dev.torchane.Generation")
@Label("Generation")
@Category({"torch-ane", "Generation"})
@StackTrace(false)
final class GenerationEvent extends Event {

    @Label("Prompt Tokens")
    int promptTokens;

    @Label("Cached Tokens")
    @Description("Prompt tokens that were in the KV state already")
    int cachedTokens;

    @Label("New Tokens")
    int newTokens;

    @Label("Finish Reason")
    String reason;
}
