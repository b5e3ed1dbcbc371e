package dev.torchane.engine.coreml;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.engine.jvm.JvmEngine;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.Operation;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Compressed constants as plain ones of fp16, for what an operation set does not have: the jvm engine expands them. */
final class DenseConstants {

    private static final int TILE = 1 << 18;

    private final PackageWeights weights;

    DenseConstants(PackageWeights weights) {
        this.weights = weights;
    }

    /**
     * The value of a constant expression, in the package.
     *
     * @param operands its operands, all of them stored
     */
    Literal.Blob half(Operation operation, Map<String, Literal> operands) {
        TensorType type = operation.output().type().withDtype(DType.FP16);
        return weights.made(
                List.of(operation.kind(), operands), type, sink -> write(value(operation, operands), DType.FP16, sink));
    }

    private Tensor value(Operation operation, Map<String, Literal> operands) {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder f = program.function("constant");
        Map<String, Operand> given = new LinkedHashMap<>();
        operands.forEach((parameter, literal) -> given.put(parameter, f.constant(parameter, literal)));
        Value result = f.apply(operation.kind(), "value", given);
        f.done(result);
        EngineOptions options = EngineOptions.defaults().withThreads(1).withVector(false);
        try (LoadedProgram loaded = JvmEngine.load(program.build(), weights::bytes, options);
                State state = loaded.function("constant").newState()) {
            return loaded.function("constant").run(Map.of(), state).get(result.name());
        }
    }

    /** Hands a tensor over in another type, in tiles. */
    static void write(Tensor value, DType dtype, Consumer<MemorySegment> sink) {
        long elements = value.type().elements();
        for (long first = 0; first < elements; first += TILE) {
            int count = (int) Math.min(TILE, elements - first);
            try (Arena arena = Arena.ofConfined()) {
                Tensor tile = Tensor.allocate(TensorType.of(dtype, count), arena);
                for (int i = 0; i < count; i++) {
                    tile.set(i, value.get(first + i));
                }
                sink.accept(tile.data());
            }
        }
    }
}
