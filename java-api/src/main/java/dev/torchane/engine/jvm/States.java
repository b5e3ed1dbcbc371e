package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import java.util.Map;
import java.util.function.Consumer;

/** Reading and writing states. */
final class States {

    private States() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put("read_state", States::copy);
        table.put(UpdateStatesInPlace.READ, context -> context.alias(context.raw("state"), 0));
        table.put(UpdateStatesInPlace.UPDATE, States::update);
        table.put("write_state", context -> {
            Operand data = context.in("data");
            Operand state = context.raw("input");
            context.step(call -> store(data, state, 0, call, data.offset(), data.size()));
        });
    }

    /** The state as it is now, whatever is written to it later. */
    private static void copy(OpContext context) {
        context.step(widen(context.raw("input"), context.out()));
    }

    /** Copies what is in a state, or a part of it, as fp32. */
    static Step widen(Operand state, Operand out) {
        requireRows(state, state.start(), state.size());
        return call -> StateMemory.widen(
                call.states[state.buffer().state],
                state.offset(),
                out.array(call),
                out.offset(),
                out.size(),
                state.buffer().row);
    }

    /** Rows that share a factor are read and written whole. */
    private static void requireRows(Operand state, int from, int size) {
        int row = state.buffer().row;
        if (state.buffer().memory == StateMemory.INT8 && (from % row != 0 || size % row != 0)) {
            throw new TorchAneException("a part of type " + state.type() + " of a state with rows of " + row
                    + " numbers is used: states that are not used in whole rows cannot be kept in int8;"
                    + " take StateStorage.FP16 or DECLARED");
        }
    }

    private static void update(OpContext context) {
        Operand state = context.raw("state");
        Operand update = context.in("update");
        Operand begin = context.in("begin");
        requireRows(
                state,
                state.start(),
                update.type().rank() == 0 ? 1 : update.type().axis(-1));
        context.step(new Update(state, update, begin));
        if (!context.results().isEmpty()) {
            context.alias(state, 0);
        }
    }

    /** Writes a block into a state at a place that is known at run time only; the block must lie inside. */
    private record Update(Operand state, Operand update, Operand begin) implements Step {
        @Override
        public void run(Call call) {
            write(call, begin.array(call), 0, 0, update.offset(), state.size(), update.size());
        }

        private void write(Call call, float[] at, int axis, int to, int from, int stateSize, int updateSize) {
            int size = state.type().axis(axis);
            int updated = update.type().axis(axis);
            int first = Layouts.Write.first((int) at[begin.offset() + axis], size, updated, axis);
            int stateStep = stateSize / size;
            int updateStep = updateSize / updated;
            if (wholeFrom(axis + 1)) {
                store(update, state, to + first * stateStep, call, from, updateSize);
                return;
            }
            for (int i = 0; i < updated; i++) {
                write(call, at, axis + 1, to + (first + i) * stateStep, from + i * updateStep, stateStep, updateStep);
            }
        }

        /** Whether the block covers all axes from one on, so that it is dense from there. */
        private boolean wholeFrom(int axis) {
            for (int a = axis; a < state.type().rank(); a++) {
                if (state.type().axis(a) != update.type().axis(a)) {
                    return false;
                }
            }
            return true;
        }
    }

    private static void store(Operand data, Operand state, int to, Call call, int from, int size) {
        StateMemory.store(
                data.array(call),
                from,
                size,
                call.states[state.buffer().state],
                state.offset() + to,
                state.buffer().row);
    }
}
