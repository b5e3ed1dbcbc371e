package dev.torchane.samples.mil;

import dev.torchane.MilProgram;
import dev.torchane.engine.Tensor;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.Value;
import java.util.Map;
import java.util.Random;

/**
 * Rotary position embedding. fp16 cannot tell positions beyond 2048 apart, so cosines and sines are computed on the CPU and come
 * in as rows; the kernel rotates.
 */
public final class Rope {

    private Rope() {}

    /** A program with a function {@code rope} over {@code x [1, heads, rows, dim]}, {@code cos, sin [1, 1, rows, dim]}. */
    public static Program program(int heads, int rows, int dim) {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder f = program.function("rope");
        Value x = f.input("x", Numbers.half(1, heads, rows, dim));
        Value cos = f.input("cos", Numbers.half(1, 1, rows, dim));
        Value sin = f.input("sin", Numbers.half(1, 1, rows, dim));
        f.done(f.rope("y", x, cos, sin));
        return program.build();
    }

    /** The cosines, or sines, of a row's angles: {@code position · base^(−2i/dim)}, the halves of the row alike. */
    static void angles(Tensor cos, Tensor sin, int row, int position, int dim, double base) {
        for (int i = 0; i < dim; i++) {
            double angle = position * Math.pow(base, -2.0 * (i % (dim / 2)) / dim);
            cos.set(row * dim + i, (float) Math.cos(angle));
            sin.set(row * dim + i, (float) Math.sin(angle));
        }
    }

    /** Runs it on rows at positions from {@code first} on. */
    public static Numbers.Difference run(int first) {
        int heads = 4;
        int rows = 8;
        int dim = 128;
        double base = 1e6;
        Tensor x = Numbers.random(new Random(4), 1, 1, heads, rows, dim);
        Tensor cos = Tensor.allocate(Numbers.half(1, 1, rows, dim));
        Tensor sin = Tensor.allocate(Numbers.half(1, 1, rows, dim));
        double[] expected = new double[heads * rows * dim];
        for (int row = 0; row < rows; row++) {
            angles(cos, sin, row, first + row, dim, base);
            for (int head = 0; head < heads; head++) {
                int at = (head * rows + row) * dim;
                for (int i = 0; i < dim / 2; i++) {
                    double angle = (first + row) * Math.pow(base, -2.0 * i / dim);
                    double a = x.get(at + i);
                    double b = x.get(at + dim / 2 + i);
                    expected[at + i] = a * Math.cos(angle) - b * Math.sin(angle);
                    expected[at + dim / 2 + i] = b * Math.cos(angle) + a * Math.sin(angle);
                }
            }
        }
        try (MilProgram program = Numbers.load(program(heads, rows, dim))) {
            Tensor y =
                    program.run("rope", Map.of("x", x, "cos", cos, "sin", sin)).get("y");
            return Numbers.Difference.of(y, expected);
        }
    }

    /** Prints how far fp16 is from double precision, early and late in a context. */
    public static void main(String[] arguments) {
        System.out.println("from position 0: " + run(0));
        System.out.println("from position 30000: " + run(30_000));
    }
}
