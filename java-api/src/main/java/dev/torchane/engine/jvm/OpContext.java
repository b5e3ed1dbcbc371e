package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One operation while it becomes steps: its operands and constants, and where its results go. */
final class OpContext {

    private final Planner planner;
    private final Operation operation;
    private final List<Operand> touched = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();
    private final boolean fold;

    OpContext(Planner planner, Operation operation) {
        this.planner = planner;
        this.operation = operation;
        this.fold = planner.foldable(operation);
    }

    String kind() {
        return operation.kind();
    }

    Operation operation() {
        return operation;
    }

    /** Whether an operand is given. */
    boolean has(String parameter) {
        return operation.input(parameter).isPresent();
    }

    /** A required operand, as fp32. */
    Operand in(String parameter) {
        return in(required(parameter));
    }

    /** An operand that may be left out, as fp32. */
    Optional<Operand> maybe(String parameter) {
        return operation.input(parameter).map(this::in);
    }

    /** All operands of a parameter, as fp32. */
    List<Operand> all(String parameter) {
        return operation.inputs().getOrDefault(parameter, List.of()).stream()
                .map(this::in)
                .toList();
    }

    /** An operand as it lies in memory: maybe as a state keeps it. */
    Operand raw(String parameter) {
        Operand operand = planner.operand(required(parameter));
        touched.add(operand);
        return operand;
    }

    private Operand in(Value value) {
        Operand operand = planner.operand(value);
        touched.add(operand);
        if (operand.buffer().memory == StateMemory.FP32) {
            return operand;
        }
        Operand widened = temporary(operand.type());
        step(States.widen(operand, widened));
        return widened;
    }

    private Value required(String parameter) {
        return operation
                .input(parameter)
                .orElseThrow(() -> new TorchAneException(describe() + " has no operand '" + parameter + "'"));
    }

    /** Type of a required operand. */
    TensorType type(String parameter) {
        return required(parameter).type();
    }

    /** The constant behind an operand, if it is one that the program stores. */
    Optional<WeightRef> weight(String parameter) {
        return planner.weight(required(parameter));
    }

    WeightStore store() {
        return planner.store();
    }

    /** Integers of a constant operand. */
    int[] ints(String parameter) {
        return constant(in(parameter), parameter).ints();
    }

    int[] ints(String parameter, int... fallback) {
        return has(parameter) ? ints(parameter) : fallback;
    }

    int integer(String parameter, int fallback) {
        return has(parameter) ? ints(parameter)[0] : fallback;
    }

    /** An axis, counted from the front. */
    int axis(String parameter, int fallback, int rank) {
        return Math.floorMod(integer(parameter, fallback), Math.max(1, rank));
    }

    float number(String parameter, float fallback) {
        if (!has(parameter)) {
            return fallback;
        }
        Operand operand = constant(in(parameter), parameter);
        return operand.buffer().constant[operand.start()];
    }

    boolean flag(String parameter, boolean fallback) {
        return number(parameter, fallback ? 1 : 0) != 0;
    }

    String text(String parameter, String fallback) {
        return operation.input(parameter).map(planner::text).orElse(fallback);
    }

    private Operand constant(Operand operand, String parameter) {
        if (!operand.isConstant()) {
            throw new TorchAneException(describe() + ": the jvm engine needs '" + parameter + "' to be a constant");
        }
        return operand;
    }

    /** New memory for the only result. */
    Operand out() {
        return out(operation.output());
    }

    /** New memory for a result. */
    Operand out(Value value) {
        Operand operand = temporary(value.type());
        planner.define(value, operand);
        return operand;
    }

    List<Value> results() {
        return operation.outputs();
    }

    /** New memory that only this operation uses. */
    Operand temporary(TensorType type) {
        Operand.Buffer buffer = new Operand.Buffer(Math.toIntExact(Math.max(1, type.elements())));
        if (fold) {
            buffer.constant = new float[buffer.size];
        }
        Operand operand = new Operand(buffer, 0, type);
        touched.add(operand);
        return operand;
    }

    /** Makes the only result the same memory as an operand, from an element on. */
    void alias(Operand source, int from) {
        alias(source, from, operation.output());
    }

    void alias(Operand source, int from, Value result) {
        planner.define(result, source.view(from, result.type()));
    }

    /** Adds a step. */
    void step(Step step) {
        steps.add(step);
    }

    /** A side table of integers in the call, one for each key; {@code make} adds the step that fills it when it is new. */
    int table(Object key, java.util.function.IntFunction<Step> make) {
        return planner.table(key, index -> step(make.apply(index)));
    }

    /** Whether results must be rounded to their declared type one by one. */
    boolean declared() {
        return planner.declared();
    }

    String describe() {
        String name =
                operation.outputs().isEmpty() ? "" : " '" + operation.output().name() + "'";
        return "operation " + operation.kind() + name;
    }

    /** Ends the operation: runs its steps now if all operands are constants, else hands them to the plan. */
    void finish() {
        if (planner.declared()) {
            for (Value result : operation.outputs()) {
                planner.defined(result).ifPresent(this::round);
            }
        }
        if (fold) {
            Call call = planner.foldingCall();
            for (Step step : steps) {
                step.run(call);
            }
        } else {
            planner.append(steps, touched);
        }
    }

    private void round(Operand result) {
        DType dtype = result.type().dtype();
        if (steps.isEmpty() || result.buffer().state >= 0 || (dtype != DType.FP16 && dtype != DType.BF16)) {
            return;
        }
        step(call -> Rounding.round(dtype, result.array(call), result.offset(), result.size()));
    }
}
