package dev.torchane.samples.mil;

import dev.torchane.MilProgram;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Program;
import dev.torchane.program.TensorType;
import java.util.Random;

/** Random tensors, and how far two results are apart; what the samples share. */
public final class Numbers {

    private Numbers() {}

    /** How far results are from what was expected. */
    public record Difference(double mean, double largest) {

        static Difference of(Tensor found, double[] expected) {
            double sum = 0;
            double largest = 0;
            for (int i = 0; i < expected.length; i++) {
                double difference = Math.abs(found.get(i) - expected[i]);
                sum += difference;
                largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
            }
            return new Difference(sum / expected.length, largest);
        }
    }

    static TensorType half(int... shape) {
        return TensorType.of(DType.FP16, shape);
    }

    /** Normal random numbers times {@code scale}, rounded to fp16. */
    static Tensor random(Random random, double scale, int... shape) {
        Tensor tensor = Tensor.allocate(half(shape));
        for (long i = 0; i < tensor.type().elements(); i++) {
            tensor.set(i, (float) (scale * random.nextGaussian()));
        }
        return tensor;
    }

    /** A program whose every result is rounded to the type it declares, as on the hardware. */
    static MilProgram load(Program program) {
        return MilProgram.of(program, "jvm", EngineOptions.defaults().withNumerics(Numerics.DECLARED));
    }

    static double dot(Tensor a, int from, Tensor b, int to, int count) {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += (double) a.get(from + i) * b.get(to + i);
        }
        return sum;
    }
}
