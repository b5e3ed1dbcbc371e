package dev.torchane.engine.coreai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Function;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One function, and the file through which its tensors go. */
final class CoreAiFunction implements LoadedFunction {

    /** Inputs and outputs may have the same name. */
    private static final String RESULT = "out ";

    private final CoreAiProgram program;
    private final Function function;
    private Optional<SharedFile> exchange = Optional.empty();
    private long number;
    private int generation;
    private long nanos;

    CoreAiFunction(CoreAiProgram program, Function function) {
        this.program = program;
        this.function = function;
    }

    @Override
    public Function signature() {
        return function;
    }

    @Override
    public State newState() {
        synchronized (program.link()) {
            program.require();
            return new CoreAiState(program, function.states());
        }
    }

    @Override
    public Map<String, Tensor> run(Map<String, Tensor> inputs, State state, RowRange rows) {
        LoadedFunction.requireInputs(function, inputs);
        if (!(state instanceof CoreAiState own) || own.program() != program) {
            throw new IllegalArgumentException("the state was not made by this program's newState()");
        }
        own.acquire(function.states());
        try {
            synchronized (program.link()) {
                program.require();
                return run(inputs, own);
            }
        } finally {
            own.release();
        }
    }

    private Map<String, Tensor> run(Map<String, Tensor> inputs, CoreAiState state) {
        int now = program.ready();
        SharedFile file = exchange(now);
        for (Value input : function.tensors()) {
            copy(inputs.get(input.name()), file.tensor(input.name()));
        }
        String known = function.states().isEmpty() ? "null" : Long.toString(state.bring(now));
        JsonNode answer = program.link()
                .call("{\"op\":\"run\",\"call\":%d,\"state\":%s,\"push\":%b}"
                        .formatted(number, known, state.changed()));
        state.ran();
        nanos = answer.path("nanos").asLong();
        Map<String, Tensor> outputs = new LinkedHashMap<>();
        for (Value output : function.outputs()) {
            Tensor result = Tensor.allocate(output.type());
            copy(file.tensor(RESULT + output.name()), result);
            outputs.put(output.name(), result);
        }
        return outputs;
    }

    /** Nanoseconds of the last call that were Core AI's own. */
    long nanos() {
        return nanos;
    }

    private static void copy(Tensor from, Tensor to) {
        MemorySegment.copy(from.data(), 0, to.data(), 0, from.type().bytes());
    }

    private SharedFile exchange(int now) {
        if (exchange.isPresent() && generation == now) {
            return exchange.get();
        }
        if (exchange.isEmpty()) {
            number = program.link().number();
            List<Value> all = new ArrayList<>(function.tensors());
            function.outputs().forEach(output -> all.add(new Value(RESULT + output.name(), output.type())));
            exchange = Optional.of(new SharedFile(program.link().file("call-" + number), all));
        }
        SharedFile file = exchange.get();
        program.link()
                .call(
                        "{\"op\":\"call\",\"program\":%d,\"function\":\"%s\",\"call\":%d,\"file\":%s,\"inputs\":%s,\"outputs\":%s}"
                                .formatted(
                                        program.number(),
                                        function.name(),
                                        number,
                                        file.name(),
                                        file.layout("", function.tensors()),
                                        file.layout(RESULT, function.outputs())));
        generation = now;
        return file;
    }

    void close() {
        exchange.ifPresent(SharedFile::close);
        exchange = Optional.empty();
        generation = 0;
    }
}
