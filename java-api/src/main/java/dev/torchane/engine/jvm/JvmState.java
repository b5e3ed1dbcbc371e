package dev.torchane.engine.jvm;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** States as Java arrays of their declared type: {@code float[]} or {@code short[]} for fp16. */
final class JvmState implements State {

    private final JvmProgram program;
    private final Map<String, TensorType> types = new LinkedHashMap<>();
    private final Map<String, Object> arrays = new LinkedHashMap<>();
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile boolean closed;

    JvmState(JvmProgram program, List<Value> states) {
        this.program = program;
        for (Value state : states) {
            int size = Math.toIntExact(state.type().elements());
            types.put(state.name(), state.type());
            arrays.put(state.name(), state.type().dtype() == DType.FP16 ? new short[size] : new float[size]);
        }
    }

    JvmProgram program() {
        return program;
    }

    /**
     * Arrays of a function's states in its order. Held by one call until {@link #release()}.
     *
     * @throws IllegalStateException when closed or in use
     * @throws IllegalArgumentException when a state is missing or has another type
     */
    Object[] acquire(List<Value> states) {
        if (!busy.compareAndSet(false, true)) {
            throw new IllegalStateException("the state is in use by another call; one state serves one call at a time");
        }
        try {
            require();
            Object[] found = new Object[states.size()];
            for (int i = 0; i < found.length; i++) {
                Value state = states.get(i);
                if (!state.type().equals(types.get(state.name()))) {
                    throw new IllegalArgumentException("the function needs the state '" + state.name() + "' as "
                            + state.type() + ", the given state has " + types);
                }
                found[i] = arrays.get(state.name());
            }
            return found;
        } catch (RuntimeException e) {
            busy.set(false);
            throw e;
        }
    }

    void release() {
        busy.set(false);
        if (closed) {
            arrays.clear();
        }
    }

    @Override
    public Set<String> names() {
        return types.keySet();
    }

    @Override
    public Tensor tensor(String name) {
        require();
        Object array = arrays.get(name);
        return switch (array) {
            case short[] halves -> new Tensor(types.get(name), MemorySegment.ofArray(halves));
            case float[] floats -> new Tensor(types.get(name), MemorySegment.ofArray(floats));
            case null, default ->
                throw new IllegalArgumentException("there is no state '" + name + "'; there is " + types.keySet());
        };
    }

    @Override
    public void zero() {
        require();
        for (Object array : arrays.values()) {
            if (array instanceof short[] halves) {
                Arrays.fill(halves, (short) 0);
            } else {
                Arrays.fill((float[]) array, 0f);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        if (busy.compareAndSet(false, true)) {
            arrays.clear();
            busy.set(false);
        }
    }

    private void require() {
        if (closed) {
            throw new IllegalStateException("the state is closed");
        }
    }
}
