package dev.torchane.program;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes a program, function by function.
 *
 * <pre>{@code
 * ProgramBuilder program = ProgramBuilder.create().buildInfo("producer", "me");
 * FunctionBuilder f = program.function("main");
 * Value x = f.input("x", TensorType.of(DType.FP32, 1, 64));
 * Value y = f.softmax("y", f.mul("scaled", x, Literal.scalar(DType.FP32, 0.125)), -1);
 * f.done(y);
 * Program made = program.build();
 * }</pre>
 */
public final class ProgramBuilder {

    /** Version of the format that is written. */
    public static final String VERSION = "1.3";

    /** Operation set of functions that name none. */
    public static final String OPSET = "ios18";

    private final Map<String, String> buildInfo = new LinkedHashMap<>();
    private final Map<String, FunctionBuilder> begun = new LinkedHashMap<>();
    private final List<Function> done = new ArrayList<>();

    private ProgramBuilder() {}

    /** An empty program. */
    public static ProgramBuilder create() {
        return new ProgramBuilder();
    }

    /** Adds a pair to the program's build information. */
    public ProgramBuilder buildInfo(String key, String value) {
        buildInfo.put(key, value);
        return this;
    }

    /** Begins a function of the operation set {@link #OPSET}. */
    public FunctionBuilder function(String name) {
        return function(name, OPSET);
    }

    /**
     * Begins a function; functions stand in the program in the order in which they are done.
     *
     * @throws IllegalArgumentException when the name is no identifier or is taken
     */
    public FunctionBuilder function(String name, String opset) {
        if (!Names.identifier(name) || !Names.identifier(opset)) {
            throw new IllegalArgumentException(
                    "a function and its opset need MIL identifiers as names, found '" + name + "' and '" + opset + "'");
        }
        FunctionBuilder function = new FunctionBuilder(name, opset, done::add);
        if (begun.putIfAbsent(name, function) != null) {
            throw new IllegalArgumentException("the program has a function '" + name + "' already");
        }
        return function;
    }

    /**
     * The program.
     *
     * @throws IllegalStateException when a function is not done, or there is none
     */
    public Program build() {
        for (Map.Entry<String, FunctionBuilder> entry : begun.entrySet()) {
            if (!entry.getValue().isDone()) {
                throw new IllegalStateException(
                        "function '" + entry.getKey() + "' is not done: call done(outputs) first");
            }
        }
        if (done.isEmpty()) {
            throw new IllegalStateException("the program has no function");
        }
        return new Program(VERSION, buildInfo, done);
    }
}
