package dev.torchane.samples.mil;

import dev.torchane.MilProgram;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operations;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.Value;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * RMSNorm in fp16 alone. The square of anything beyond 255 overflows there, and the residual stream of a language model goes into
 * thousands. So rows are scaled first, by a power of two, which costs no precision, and which the norm itself takes out again:
 * {@code x / sqrt(mean(x²) + ε) = s·x / sqrt(mean((s·x)²) + s²·ε)}.
 */
public final class ScaledRmsNorm {

    /** fp16's smallest step: what an epsilon that would vanish becomes. */
    private static final double STEP = 0x1p-24;

    private ScaledRmsNorm() {}

    /**
     * Adds the norm over the last axis to a function of fp16.
     *
     * @param epsilon added to the mean square
     * @param scale a power of two, about one over the size of the rows; a factor of 100 to either side does not matter
     */
    public static Value add(Operations f, String name, Value x, Value weight, double epsilon, double scale) {
        Value scaled = f.mul(name + "_scaled", x, Literal.scalar(DType.FP16, scale));
        Value square = f.mul(name + "_square", scaled, scaled);
        Value mean = f.reduceMean(name + "_mean", square, List.of(-1), true);
        Value factor = f.rsqrt(name + "_factor", mean, Math.max(epsilon * scale * scale, STEP));
        return f.mul(name, f.mul(name + "_normed", scaled, factor), weight);
    }

    /** A program with a function {@code rms_norm} over {@code x [rows, width]} and {@code weight [width]}. */
    public static Program program(int rows, int width, double epsilon, double scale) {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder f = program.function("rms_norm");
        Value x = f.input("x", Numbers.half(rows, width));
        Value weight = f.input("weight", Numbers.half(width));
        f.done(add(f, "y", x, weight, epsilon, scale));
        return program.build();
    }

    /**
     * Runs it on random rows, with weights of about 0.01: results stay below 0.2, beyond which fp16 itself is further than 1e-4 apart.
     *
     * @param size standard deviation of the rows
     * @param scale by which the kernel scales them
     */
    public static Numbers.Difference run(double size, double scale) {
        int rows = 16;
        int width = 1024;
        double epsilon = 1e-6;
        Random random = new Random(1);
        Tensor x = Numbers.random(random, size, rows, width);
        Tensor weight = Numbers.random(random, 0.01, width);
        double[] expected = new double[rows * width];
        for (int row = 0; row < rows; row++) {
            double factor = 1 / Math.sqrt(Numbers.dot(x, row * width, x, row * width, width) / width + epsilon);
            for (int i = 0; i < width; i++) {
                expected[row * width + i] = x.get(row * width + i) * factor * weight.get(i);
            }
        }
        try (MilProgram program = Numbers.load(program(rows, width, epsilon, scale))) {
            Tensor y = program.run("rms_norm", Map.of("x", x, "weight", weight)).get("y");
            return Numbers.Difference.of(y, expected);
        }
    }

    /** Prints how far fp16 is from double precision, for rows of several sizes. */
    public static void main(String[] arguments) {
        for (double size : new double[] {0.05, 1, 30, 1000, 10_000}) {
            System.out.println("rows of " + size + ", unscaled: " + run(size, 1));
            System.out.println("rows of " + size + ", scaled:   " + run(size, Math.scalb(1, -Math.getExponent(size))));
        }
    }
}
