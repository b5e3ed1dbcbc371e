package dev.torchane.engine.jvm;

import dev.torchane.engine.Tensor;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;

/** A function made ready to run: steps in order over buffers with fixed places. Immutable and shared by all calls. */
final class Plan {

    private final List<Value> inputs;
    private final List<Operand> inputPlaces;
    private final List<Step> steps;
    private final List<String> outputNames;
    private final List<Operand> outputs;
    private final int arenaSize;

    Plan(
            List<Value> inputs,
            List<Operand> inputPlaces,
            List<Step> steps,
            List<String> outputNames,
            List<Operand> outputs,
            int arenaSize) {
        this.inputs = List.copyOf(inputs);
        this.inputPlaces = List.copyOf(inputPlaces);
        this.steps = List.copyOf(steps);
        this.outputNames = List.copyOf(outputNames);
        this.outputs = List.copyOf(outputs);
        this.arenaSize = arenaSize;
    }

    /** Steps, for tests. */
    List<Step> steps() {
        return steps;
    }

    /** Floats of activations that a call needs. */
    int arenaSize() {
        return arenaSize;
    }

    /**
     * Runs the plan.
     *
     * @param given whole inputs by name
     * @param rowAxes row axis of each input that has one; used where the plan's input is shorter along it
     * @param start first row, where the plan covers some rows only
     * @param outputRowAxes row axis of each output that has one
     * @param outputTypes types that the outputs get
     */
    Map<String, Tensor> run(
            Call call,
            Map<String, Tensor> given,
            Map<String, Integer> rowAxes,
            int start,
            Map<String, Integer> outputRowAxes,
            Map<String, TensorType> outputTypes) {
        if (call.arena.length < arenaSize) {
            call.arena = new float[arenaSize];
        }
        for (int i = 0; i < inputs.size(); i++) {
            String name = inputs.get(i).name();
            Operand place = inputPlaces.get(i);
            if (name.equals(RowSpecializer.ROW_START)) {
                call.arena[place.offset()] = start;
            } else {
                Transfers.read(given.get(name), rowAxes.getOrDefault(name, 0), start, place, call.arena);
            }
        }
        for (int i = 0; i < steps.size(); i++) {
            if (call.cancelled.getAsBoolean()) {
                throw new CancellationException("the call was cancelled after " + i + " of " + steps.size() + " steps");
            }
            Step step = steps.get(i);
            if (!(step instanceof SkipStep skip)) {
                step.run(call);
            } else if (skip.skips(call)) {
                skip.run(call);
                i += skip.count();
            }
        }
        Map<String, Tensor> results = new LinkedHashMap<>();
        for (int i = 0; i < outputs.size(); i++) {
            String name = outputNames.get(i);
            Tensor tensor = Tensor.allocate(outputTypes.get(name));
            Transfers.write(outputs.get(i), call, outputRowAxes.getOrDefault(name, 0), start, tensor);
            results.put(name, tensor);
        }
        return results;
    }
}
