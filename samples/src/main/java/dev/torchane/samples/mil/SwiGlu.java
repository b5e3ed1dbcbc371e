package dev.torchane.samples.mil;

import dev.torchane.MilProgram;
import dev.torchane.engine.Tensor;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Operations;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.Value;
import java.util.Map;
import java.util.Random;

/** The gated MLP of Llama and Qwen: {@code (silu(x·gateᵀ) · x·upᵀ) · downᵀ}, the SiLU as x·sigmoid(x). */
public final class SwiGlu {

    private SwiGlu() {}

    /** Adds the activation to a function. */
    public static Value add(Operations f, String name, Value gate, Value up) {
        Value active = f.mul(name + "_silu", gate, f.unary("sigmoid", name + "_sigmoid", gate));
        return f.mul(name, active, up);
    }

    /** A program with a function {@code mlp}; weights are inputs {@code [outputs, inputs]}. */
    public static Program program(int rows, int hidden, int inner) {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder f = program.function("mlp");
        Value x = f.input("x", Numbers.half(rows, hidden));
        Value gate = f.matmul("gate", x, f.input("w_gate", Numbers.half(inner, hidden)), false, true);
        Value up = f.matmul("up", x, f.input("w_up", Numbers.half(inner, hidden)), false, true);
        Value down = f.input("w_down", Numbers.half(hidden, inner));
        f.done(f.matmul("y", add(f, "mlp", gate, up), down, false, true));
        return program.build();
    }

    /** Runs it on random rows. */
    public static Numbers.Difference run() {
        int rows = 4;
        int hidden = 128;
        int inner = 256;
        Random random = new Random(5);
        Tensor x = Numbers.random(random, 1, rows, hidden);
        Tensor gate = Numbers.random(random, 0.05, inner, hidden);
        Tensor up = Numbers.random(random, 0.05, inner, hidden);
        Tensor down = Numbers.random(random, 0.05, hidden, inner);
        double[] expected = new double[rows * hidden];
        for (int row = 0; row < rows; row++) {
            for (int i = 0; i < inner; i++) {
                double g = Numbers.dot(x, row * hidden, gate, i * hidden, hidden);
                double active = g / (1 + Math.exp(-g)) * Numbers.dot(x, row * hidden, up, i * hidden, hidden);
                for (int o = 0; o < hidden; o++) {
                    expected[row * hidden + o] += active * down.get(o * inner + i);
                }
            }
        }
        try (MilProgram program = Numbers.load(program(rows, hidden, inner))) {
            Tensor y = program.run("mlp", Map.of("x", x, "w_gate", gate, "w_up", up, "w_down", down))
                    .get("y");
            return Numbers.Difference.of(y, expected);
        }
    }

    /** Prints how far fp16 is from double precision. */
    public static void main(String[] arguments) {
        System.out.println(run());
    }
}
