package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Inputs and outputs have types that Core ML passes: arrays of fp32, fp16 or int32.
 *
 * <pre>
 * Given   input of bool, int8, uint8, int16, uint16      Result  input of int32, cast
 * Given   output of these                                Result  cast, output of int32
 * Given   scalar input                                   Result  input of shape [1], squeeze
 * Given   output that is a constant                      Result  identity of it
 * </pre>
 */
final class FitInterface implements FunctionCopy.Change {

    private final FunctionBuilder to;
    private final Set<String> constants = new HashSet<>();

    FitInterface(FunctionBuilder to) {
        this.to = to;
    }

    private static boolean small(DType dtype) {
        return switch (dtype) {
            case BOOL, INT8, UINT8, INT16, UINT16 -> true;
            default -> false;
        };
    }

    @Override
    public Value input(Value input, FunctionBuilder into) {
        if (input.state()) {
            return into.state(input.name(), input.type());
        }
        DType dtype = input.type().dtype();
        boolean scalar = input.type().rank() == 0;
        DType passed = small(dtype) ? DType.INT32 : dtype;
        List<Integer> shape = scalar ? List.of(1) : input.type().shape();
        Value value = into.input(input.name(), new TensorType(passed, shape));
        if (scalar) {
            value = into.squeeze(input.name() + "_scalar", value, 0);
        }
        return small(dtype) ? into.cast(input.name() + "_" + dtype.mil(), value, dtype) : value;
    }

    @Override
    public Optional<List<Value>> of(Operation operation, FunctionCopy copy) {
        if (operation.kind().equals("const") || operation.kind().startsWith("constexpr_")) {
            constants.add(operation.output().name());
        }
        return Optional.empty();
    }

    @Override
    public Map<String, Value> outputs(Map<String, Value> results, FunctionCopy copy, List<Value> source) {
        Map<String, Value> passed = new LinkedHashMap<>(results);
        for (Value value : source) {
            String name = value.name();
            if (small(value.type().dtype())) {
                passed.put(name, to.cast(name + "_int32", results.get(name), DType.INT32));
            } else if (constants.contains(name)) {
                passed.put(name, to.unary("identity", name + "_given", results.get(name)));
            }
        }
        return passed;
    }
}
