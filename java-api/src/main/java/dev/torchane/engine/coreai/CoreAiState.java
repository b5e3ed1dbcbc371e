package dev.torchane.engine.coreai;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * States that live in the helper process. They come into the file that both share when somebody asks for a tensor, and go back before
 * the next call. When the process ended, what was not in that file is lost.
 */
final class CoreAiState implements State {

    private final CoreAiProgram program;
    private final Map<String, TensorType> types = new LinkedHashMap<>();
    private final List<Value> values;
    private final SharedFile file;
    private final long number;
    private final AtomicBoolean busy = new AtomicBoolean();
    private int generation;
    /** The file has what the states are. */
    private boolean here = true;
    /** The file may have more than the process. */
    private boolean changed;

    private boolean closed;

    CoreAiState(CoreAiProgram program, List<Value> states) {
        this.program = program;
        this.values = states.stream()
                .map(state -> new Value(state.name(), state.type()))
                .toList();
        this.number = program.link().number();
        values.forEach(value -> types.put(value.name(), value.type()));
        this.file = new SharedFile(program.link().file("state-" + number), values);
    }

    CoreAiProgram program() {
        return program;
    }

    /** Keeps other calls out until {@link #release}. */
    void acquire(List<Value> states) {
        if (!busy.compareAndSet(false, true)) {
            throw new IllegalStateException("the state is in use by another call; one state serves one call at a time");
        }
        try {
            synchronized (program.link()) {
                require();
            }
            for (Value state : states) {
                if (!state.type().equals(types.get(state.name()))) {
                    throw new IllegalArgumentException("the function needs the state '" + state.name() + "' as "
                            + state.type() + ", the given state has " + types);
                }
            }
        } catch (RuntimeException e) {
            busy.set(false);
            throw e;
        }
    }

    void release() {
        busy.set(false);
        synchronized (program.link()) {
            if (closed) {
                file.close();
            }
        }
    }

    /** Makes sure that the process has the state; returns its number there. */
    long bring(int now) {
        if (generation != now) {
            requireHere();
            program.link()
                    .call("{\"op\":\"state\",\"state\":%d,\"program\":%d,\"file\":%s,\"tensors\":%s}"
                            .formatted(number, program.number(), file.name(), file.layout("", values)));
            generation = now;
            changed = false;
        }
        return number;
    }

    private void requireHere() {
        if (!here) {
            throw new CoreAiException("the state was lost when the process that ran Core AI ended; make a new one");
        }
    }

    boolean changed() {
        return changed;
    }

    void ran() {
        here = types.isEmpty();
        changed = false;
    }

    @Override
    public Set<String> names() {
        return types.keySet();
    }

    @Override
    public Tensor tensor(String name) {
        synchronized (program.link()) {
            require();
            if (!types.containsKey(name)) {
                throw new IllegalArgumentException("there is no state '" + name + "'; there is " + types.keySet());
            }
            if (!here) {
                program.require();
                if (program.ready() != generation) {
                    requireHere();
                }
                program.link().call("{\"op\":\"pull\",\"state\":%d}".formatted(number));
                here = true;
            }
            changed = true;
            return file.tensor(name);
        }
    }

    @Override
    public void zero() {
        synchronized (program.link()) {
            require();
            types.keySet().forEach(name -> file.tensor(name).data().fill((byte) 0));
            here = true;
            changed = true;
        }
    }

    @Override
    public void close() {
        synchronized (program.link()) {
            if (closed) {
                return;
            }
            closed = true;
            if (!busy.get()) {
                file.close();
            }
            try {
                if (generation != 0 && program.isReady(generation)) {
                    program.link().call("{\"op\":\"drop\",\"state\":%d}".formatted(number));
                }
            } catch (CoreAiException e) {
                // It is gone, and the state with it.
            }
        }
    }

    private void require() {
        if (closed) {
            throw new IllegalStateException("the state is closed");
        }
    }
}
