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
 * Attention as a chain of products, since the Neural Engine ignores the mask of {@code scaled_dot_product_attention}: grouped
 * queries against the keys they share, a mask of −40000 where a row may not look, softmax, and the values.
 */
public final class MatmulAttention {

    private MatmulAttention() {}

    /** A program with a function {@code attention} over {@code q [1, heads, rows, dim]}, {@code k, v [1, kv, columns, dim]}. */
    public static Program program(int heads, int kv, int rows, int columns, int dim) {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder f = program.function("attention");
        Value q = f.input("q", Numbers.half(1, heads, rows, dim));
        Value k = f.input("k", Numbers.half(1, kv, columns, dim));
        Value v = f.input("v", Numbers.half(1, kv, columns, dim));
        Value mask = f.input("mask", Numbers.half(1, 1, rows, columns));
        f.done(f.attention("y", q, k, v, mask, 1 / Math.sqrt(dim)));
        return program.build();
    }

    /** Runs causal attention of the last rows of a context. */
    public static Numbers.Difference run() {
        int heads = 8;
        int kv = 2;
        int rows = 8;
        int columns = 64;
        int dim = 64;
        Random random = new Random(3);
        Tensor q = Numbers.random(random, 1, 1, heads, rows, dim);
        Tensor k = Numbers.random(random, 1, 1, kv, columns, dim);
        Tensor v = Numbers.random(random, 1, 1, kv, columns, dim);
        Tensor mask = Tensor.allocate(Numbers.half(1, 1, rows, columns));
        double[] expected = new double[heads * rows * dim];
        for (int row = 0; row < rows; row++) {
            int open = columns - rows + row + 1;
            for (int column = open; column < columns; column++) {
                mask.set(row * columns + column, -40_000);
            }
            for (int head = 0; head < heads; head++) {
                int keys = head / (heads / kv) * columns * dim;
                double[] weights = new double[open];
                double sum = 0;
                for (int column = 0; column < open; column++) {
                    weights[column] = Math.exp(
                            Numbers.dot(q, (head * rows + row) * dim, k, keys + column * dim, dim) / Math.sqrt(dim));
                    sum += weights[column];
                }
                for (int i = 0; i < dim; i++) {
                    double mixed = 0;
                    for (int column = 0; column < open; column++) {
                        mixed += weights[column] / sum * v.get(keys + column * dim + i);
                    }
                    expected[(head * rows + row) * dim + i] = mixed;
                }
            }
        }
        try (MilProgram program = Numbers.load(program(heads, kv, rows, columns, dim))) {
            Tensor y = program.run("attention", Map.of("q", q, "k", k, "v", v, "mask", mask))
                    .get("y");
            return Numbers.Difference.of(y, expected);
        }
    }

    /** Prints how far fp16 is from double precision. */
    public static void main(String[] arguments) {
        System.out.println(run());
    }
}
