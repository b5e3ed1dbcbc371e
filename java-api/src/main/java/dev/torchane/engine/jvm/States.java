package dev.torchane.engine.jvm;

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
        Operand state = context.in("input");
        Operand out = context.out();
        context.step(
                call -> System.arraycopy(state.array(call), state.offset(), out.array(call), out.offset(), out.size()));
    }

    private static void update(OpContext context) {
        Operand state = context.raw("state");
        Operand update = context.in("update");
        Operand begin = context.in("begin");
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
        float[] values = data.array(call);
        if (state.buffer().half) {
            short[] target = (short[]) call.states[state.buffer().state];
            for (int i = 0; i < size; i++) {
                target[state.offset() + to + i] = Float.floatToFloat16(values[from + i]);
            }
        } else {
            System.arraycopy(values, from, state.array(call), state.offset() + to, size);
        }
    }
}
