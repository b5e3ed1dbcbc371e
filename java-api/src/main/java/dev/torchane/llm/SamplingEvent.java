package dev.torchane.llm;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A token is chosen. */
@Name("dev.torchane.Sampling")
@Label("Sampling")
@Category({"torch-ane", "Generation"})
@Description("A token is chosen: grammar, sampling, logprobs")
@StackTrace(false)
final class SamplingEvent extends Event {

    @Label("Token")
    int token;
}
