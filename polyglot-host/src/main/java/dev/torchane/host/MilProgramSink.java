package dev.torchane.host;

import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.graalvm.polyglot.Value;

/** Builds the program that lowering describes. */
final class MilProgramSink implements ProgramSink {

    private final ProgramBuilder program;
    private final WeightConstants weights;

    MilProgramSink(ProgramBuilder program, WeightConstants weights) {
        this.program = program;
        this.weights = weights;
    }

    @Override
    public FunctionSink function(String name, String opset) {
        return new MilFunctionSink(program.function(name, opset), weights);
    }

    private static final class MilFunctionSink implements FunctionSink {

        private final FunctionBuilder function;
        private final WeightConstants weights;
        private final Map<String, dev.torchane.program.Value> weightHandles = new HashMap<>();

        MilFunctionSink(FunctionBuilder function, WeightConstants weights) {
            this.function = function;
            this.weights = weights;
        }

        @Override
        public Object input(String name, String dtype, List<Integer> shape) {
            return function.input(name, new TensorType(DType.ofMil(dtype), shape));
        }

        @Override
        public Object state(String name, String dtype, List<Integer> shape) {
            return function.state(name, new TensorType(DType.ofMil(dtype), shape));
        }

        @Override
        public Object weight(String name) {
            String stored = weights.resolve(name);
            dev.torchane.program.Value known = weightHandles.get(stored);
            if (known == null) {
                known = weights.emit(stored, function);
                weightHandles.put(stored, known);
            }
            return known;
        }

        @Override
        public Object constant(Value value) {
            return function.constant(PythonOperands.literal(value));
        }

        @Override
        public Object operation(String kind, String name, Value operands, String composite) {
            List<dev.torchane.program.Value> results =
                    function.operation(kind, name, PythonOperands.read(operands), Optional.ofNullable(composite));
            return switch (results.size()) {
                case 0 -> null;
                case 1 -> kind.equals("split") ? results : results.getFirst();
                default -> results;
            };
        }

        @Override
        public String type_of(Object handle) {
            return PythonOperands.handle(handle).type().toString();
        }

        @Override
        public void done(Value outputs) {
            List<dev.torchane.program.Value> results = PythonOperands.handlesByName(outputs).entrySet().stream()
                    .map(output -> named(output.getKey(), output.getValue()))
                    .toList();
            function.done(results);
        }

        private dev.torchane.program.Value named(String name, dev.torchane.program.Value value) {
            if (value.name().equals(name)) {
                return value;
            }
            dev.torchane.program.Value renamed = function.apply("identity", name, Map.of("x", value));
            if (!renamed.name().equals(name)) {
                throw new IllegalArgumentException(
                        "the result cannot be called '" + name + "': the function has another value of that name");
            }
            return renamed;
        }
    }
}
