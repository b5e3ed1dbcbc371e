package dev.torchane.host;

import org.graalvm.polyglot.HostAccess;

/** What lowering sees of the program it makes: {@code torch_ane.sinks.ProgramSink}. */
public interface ProgramSink {

    /**
     * Begins a function, to be ended with {@link FunctionSink#done} before the next.
     *
     * @param opset operation set, such as {@code ios18}
     */
    @HostAccess.Export
    FunctionSink function(String name, String opset);
}
