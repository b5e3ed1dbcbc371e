package dev.torchane.engine.jvm;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** States as Java arrays, see {@link StateMemory}. */
final class JvmState implements State {

    private final JvmProgram program;
    private final Map<String, TensorType> types = new LinkedHashMap<>();
    private final Map<String, StateMemory> forms = new LinkedHashMap<>();
    private final Map<String, Object> arrays = new LinkedHashMap<>();
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile boolean closed;

    JvmState(JvmProgram program, List<Value> states) {
        this.program = program;
        for (Value state : states) {
            StateMemory form = program.memory(state.type());
            types.put(state.name(), state.type());
            forms.put(state.name(), form);
            arrays.put(state.name(), form.allocate(state.type()));
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
        if (!types.containsKey(name)) {
            throw new IllegalArgumentException("there is no state '" + name + "'; there is " + types.keySet());
        }
        TensorType type = forms.get(name).type(types.get(name));
        return switch (arrays.get(name)) {
            case short[] halves -> new Tensor(type, MemorySegment.ofArray(halves));
            case byte[] bytes -> new Tensor(type, MemorySegment.ofArray(bytes));
            case Object floats -> new Tensor(type, MemorySegment.ofArray((float[]) floats));
        };
    }

    @Override
    public void zero() {
        require();
        types.keySet().forEach(name -> tensor(name).data().fill((byte) 0));
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
