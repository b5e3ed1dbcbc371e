package dev.torchane.engine.jvm;

import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/** One function and its plans: one for each number of rows that was asked for lately. */
final class JvmFunction implements LoadedFunction {

    private static final int KEPT_PLANS = 16;

    /** A plan and the row axes of its outputs. */
    private record Planned(Plan plan, Map<String, Integer> outputAxes) {}

    private final JvmProgram program;
    private final Function function;
    private final Map<String, Integer> rowAxes;
    private final OptionalInt rows;
    private final List<Value> states;
    private final Map<String, TensorType> outputTypes = new LinkedHashMap<>();
    private final Map<Integer, Planned> plans = new LinkedHashMap<>(16, 0.75f, true);

    JvmFunction(JvmProgram program, Function function, Map<String, Integer> rowAxes) {
        this.program = program;
        this.function = function;
        this.states = function.states();
        this.rowAxes = Map.copyOf(rowAxes);
        this.rows = RowSpecializer.rows(function, rowAxes);
        for (Value output : function.outputs()) {
            outputTypes.put(output.name(), output.type());
        }
    }

    @Override
    public Function signature() {
        return function;
    }

    @Override
    public State newState() {
        program.lifetime().require();
        return new JvmState(program, function.states());
    }

    @Override
    public Map<String, Tensor> run(Map<String, Tensor> inputs, State state, RowRange range) {
        return run(inputs, state, range, Call.NEVER);
    }

    @Override
    public Map<String, Tensor> run(Map<String, Tensor> inputs, State state, BooleanSupplier cancelled) {
        return run(inputs, state, RowRange.ALL, cancelled);
    }

    private Map<String, Tensor> run(
            Map<String, Tensor> inputs, State state, RowRange range, BooleanSupplier cancelled) {
        LoadedFunction.requireInputs(function, inputs);
        if (!(state instanceof JvmState own) || own.program() != program) {
            throw new IllegalArgumentException("the state was not made by this program's newState()");
        }
        int start = rows.isEmpty() ? 0 : range.start();
        int count = rows.isEmpty() ? 0 : Math.min(range.count(), rows.getAsInt() - start);
        if (rows.isPresent() && count < 1) {
            throw new IllegalArgumentException("rows from " + start + " were asked for; function '" + function.name()
                    + "' has " + rows.getAsInt());
        }
        program.lifetime().enter();
        try {
            Object[] arrays = own.acquire(states);
            try {
                return run(inputs, arrays, start, count, cancelled);
            } finally {
                own.release();
            }
        } finally {
            program.lifetime().leave();
        }
    }

    private Map<String, Tensor> run(
            Map<String, Tensor> inputs, Object[] states, int start, int count, BooleanSupplier cancelled) {
        Planned planned = plan(count);
        Call call = program.begin();
        try {
            call.states = states;
            call.cancelled = cancelled;
            return planned.plan.run(call, inputs, rowAxes, start, planned.outputAxes, outputTypes);
        } finally {
            call.states = new Object[0];
            call.cancelled = Call.NEVER;
            program.end(call);
        }
    }

    private Planned plan(int count) {
        synchronized (plans) {
            Planned planned = plans.get(count);
            if (planned == null) {
                planned = make(count);
                plans.put(count, planned);
                if (plans.size() > KEPT_PLANS) {
                    plans.remove(plans.keySet().iterator().next());
                }
            }
            return planned;
        }
    }

    private Planned make(int count) {
        if (rows.isPresent() && count < rows.getAsInt()) {
            Optional<RowSpecializer.Result> some = RowSpecializer.apply(function, rowAxes, count);
            if (some.isPresent()) {
                return new Planned(
                        program.plan(some.get().function()), some.get().outputAxes());
            }
        }
        return new Planned(program.plan(function), Map.of());
    }

    void forget() {
        synchronized (plans) {
            plans.clear();
        }
    }
}
