package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntConsumer;

/**
 * Makes a plan from a function: one pass over the operations that chooses steps, folds what is constant and shares memory
 * between aliases, then one that gives each buffer its place in the arena for as long as it lives.
 */
final class Planner {

    private final Function function;
    private final WeightStore store;
    private final EngineOptions options;
    private final Map<String, Operand> operands = new HashMap<>();
    private final Map<String, Literal> literals = new HashMap<>();
    private final Map<String, WeightRef> weights = new HashMap<>();
    private final Map<String, Integer> states = new HashMap<>();
    /** Where the step of each guard stands whose product is still to come. */
    private final Map<String, Integer> guards = new HashMap<>();

    private final Map<Object, Integer> tables = new HashMap<>();
    private final Set<Operand.Buffer> buffers = new HashSet<>();
    private final List<Operand.Buffer> inOrder = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();
    private final Call foldingCall = new Call(KernelSet.of(new ScalarKernels()), new WorkerPool(1));

    private Planner(Function function, WeightStore store, EngineOptions options) {
        this.function = function;
        this.store = store;
        this.options = options;
    }

    /**
     * Plans a function.
     *
     * @throws TorchAneException when the engine does not know an operation, or not in this form
     */
    static Plan plan(Function function, WeightStore store, EngineOptions options) {
        return new Planner(function, store, options).plan();
    }

    /**
     * The rewrites before planning: groups fused (unless numerics are declared), states updated in place, dead code gone, experts
     * that may be left out marked, linear layers of the same rows together.
     */
    static Function prepare(Function function, Numerics numerics) {
        Function prepared = numerics == Numerics.DECLARED ? function : FuseGroups.apply(function);
        return GatherLinears.apply(GuardExperts.apply(RemoveDeadCode.apply(UpdateStatesInPlace.apply(prepared))));
    }

    /** Refuses operations, types and sizes that no plan can be made for. */
    static void check(Function function) {
        function.inputs().forEach(value -> checkSize(function, value));
        for (Operation operation : function.operations()) {
            if (!ConstantExpressions.isConstant(operation) && !StepTable.known(operation.kind())) {
                throw new TorchAneException("the jvm engine does not know the operation '" + operation.kind() + "'"
                        + (operation.outputs().isEmpty()
                                ? ""
                                : " (result '" + operation.output().name() + "'")
                        + " in function '" + function.name() + "'");
            }
            operation.outputs().forEach(value -> checkSize(function, value));
        }
        for (Value state : function.states()) {
            DType dtype = state.type().dtype();
            if (dtype != DType.FP32 && dtype != DType.FP16) {
                throw new TorchAneException("state '" + state.name() + "' of function '" + function.name()
                        + "' has type " + state.type() + "; the jvm engine keeps states in fp32 or fp16");
            }
        }
    }

    private static void checkSize(Function function, Value value) {
        if (value.type().elements() > Integer.MAX_VALUE - 64) {
            throw new TorchAneException(
                    "'" + value.name() + "' of function '" + function.name() + "' has type " + value.type() + ": "
                            + value.type().elements() + " elements; the jvm engine takes fewer than 2^31");
        }
    }

    private Plan plan() {
        List<Value> tensors = function.tensors();
        List<Operand> places = new ArrayList<>();
        for (Value input : tensors) {
            Operand.Buffer buffer =
                    new Operand.Buffer(Math.toIntExact(Math.max(1, input.type().elements())));
            Operand place = new Operand(buffer, 0, input.type());
            remember(buffer);
            buffer.touch(-1);
            places.add(place);
            operands.put(input.name(), place);
        }
        List<Value> declared = function.states();
        for (int i = 0; i < declared.size(); i++) {
            Value state = declared.get(i);
            states.put(state.name(), i);
            Operand.Buffer buffer =
                    new Operand.Buffer(Math.toIntExact(state.type().elements()));
            buffer.state = i;
            buffer.memory = StateMemory.of(state.type(), options);
            buffer.row = state.type().rank() == 0 ? 1 : state.type().axis(-1);
            operands.put(state.name(), new Operand(buffer, 0, state.type()));
        }
        for (Operation operation : function.operations()) {
            plan(operation);
        }
        List<Operand> outputs = new ArrayList<>();
        for (Value output : function.outputs()) {
            outputs.add(output(output));
        }
        int size = Arena.place(inOrder);
        return new Plan(
                tensors,
                places,
                steps,
                function.outputs().stream().map(Value::name).toList(),
                outputs,
                size);
    }

    private void plan(Operation operation) {
        if (operation.kind().equals("const")) {
            Literal literal = operation.constant().orElseThrow();
            Value value = operation.output();
            literals.put(value.name(), literal);
            weights.put(value.name(), new WeightRef.Plain(value.type(), literal));
            return;
        }
        if (ConstantExpressions.known(operation.kind())) {
            weights.put(
                    operation.output().name(),
                    ConstantExpressions.weight(operation, value -> literals.get(value.name())));
            return;
        }
        if (operation.kind().equals(GuardExperts.GUARD)) {
            guard(operation);
            return;
        }
        OpContext context = new OpContext(this, operation);
        StepTable.plan(context);
        context.finish();
        operation.inputs().values().stream()
                .flatMap(List::stream)
                .filter(value -> guards.containsKey(value.name()))
                .findFirst()
                .ifPresent(guard -> endOfGuarded(guard, operation.output()));
    }

    private void guard(Operation operation) {
        Operand shares = widened(operand(operation.input("x").orElseThrow()));
        define(operation.output(), shares);
        guards.put(operation.output().name(), steps.size());
        append(List.of(new SkipStep(shares, shares, 0)), List.of(shares));
    }

    private void endOfGuarded(Value guard, Value result) {
        int first = guards.remove(guard.name());
        Operand written = operand(result);
        if (!written.isConstant()) {
            steps.set(first, new SkipStep(operand(guard), written, steps.size() - 1 - first));
            written.buffer().touch(first);
        }
    }

    /** An output lives until the end, in fp32. */
    private Operand output(Value value) {
        Operand operand = widened(operand(value));
        if (operand.buffer().inArena()) {
            operand.buffer().touch(Integer.MAX_VALUE);
        }
        return operand;
    }

    private Operand widened(Operand operand) {
        if (operand.buffer().memory == StateMemory.FP32) {
            return operand;
        }
        Operand widened = new Operand(new Operand.Buffer(operand.size()), 0, operand.type());
        append(List.of(States.widen(operand, widened)), List.of(widened));
        return widened;
    }

    /** Whether all operands of an operation are constants, so that it can be run now. */
    boolean foldable(Operation operation) {
        boolean any = false;
        for (List<Value> values : operation.inputs().values()) {
            for (Value value : values) {
                if (value.type().dtype() == DType.STRING || literals.get(value.name()) != null) {
                    any = true;
                    continue;
                }
                Operand operand = operands.get(value.name());
                if (weights.get(value.name()) == null && (operand == null || !operand.isConstant())) {
                    return false;
                }
                any = true;
            }
        }
        return any;
    }

    /** Where a value lies. */
    Operand operand(Value value) {
        Operand known = operands.get(value.name());
        if (known != null) {
            return known;
        }
        WeightRef ref = weights.get(value.name());
        if (ref == null) {
            throw new TorchAneException(
                    "function '" + function.name() + "' uses '" + value.name() + "' before it is defined");
        }
        Operand constant = Operand.constant(value.type(), store.floats(ref));
        operands.put(value.name(), constant);
        return constant;
    }

    void define(Value value, Operand operand) {
        operands.put(value.name(), operand);
    }

    Optional<Operand> defined(Value value) {
        return Optional.ofNullable(operands.get(value.name()));
    }

    Optional<WeightRef> weight(Value value) {
        return Optional.ofNullable(weights.get(value.name()));
    }

    String text(Value value) {
        return literals.get(value.name()) instanceof Literal.Text(String text) ? text : "";
    }

    WeightStore store() {
        return store;
    }

    boolean declared() {
        return options.numerics() == Numerics.DECLARED;
    }

    Call foldingCall() {
        return foldingCall;
    }

    int table(Object key, IntConsumer make) {
        Integer known = tables.get(key);
        if (known == null) {
            known = tables.size();
            tables.put(key, known);
            make.accept(known);
        }
        return known;
    }

    void append(List<Step> added, List<Operand> touched) {
        if (added.isEmpty()) {
            return;
        }
        int first = steps.size();
        Optional<LinearStep> joined = added.size() == 1 ? joined(added.getFirst()) : Optional.empty();
        if (joined.isPresent()) {
            first--;
            steps.set(first, joined.get());
        } else {
            steps.addAll(added);
        }
        for (Operand operand : touched) {
            Operand.Buffer buffer = operand.buffer();
            if (buffer.inArena()) {
                remember(buffer);
                buffer.touch(first);
                buffer.touch(steps.size() - 1);
            }
        }
    }

    /** The last step and a further one, if both are linear layers of the same rows. */
    private Optional<LinearStep> joined(Step added) {
        return !steps.isEmpty() && steps.getLast() instanceof LinearStep last && added instanceof LinearStep next
                ? last.joined(next)
                : Optional.empty();
    }

    private void remember(Operand.Buffer buffer) {
        if (buffers.add(buffer)) {
            inOrder.add(buffer);
        }
    }
}
