package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The kernels on the Vector API. A vector holds {@code V} of the {@link Lanes#COUNT} lanes of a panel or a reduction, so one
 * panel is one, two or four vectors; the sums in each lane are those of {@link ScalarKernels}.
 */
final class VectorKernels implements Kernels {

    static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    static final int V = FS.length();

    private static final int L = Lanes.COUNT;

    private final ScalarKernels scalar = new ScalarKernels();

    @Override
    public void linear(
            float[] x,
            int xOffset,
            int rows,
            Panels w,
            float[] prepared,
            float[] bias,
            int biasOffset,
            int fromPanel,
            int toPanel,
            float[] out,
            int outOffset,
            int outStride,
            float[] scratch) {
        if (rows == 1) {
            VectorRow.linear(x, xOffset, w, prepared, bias, biasOffset, fromPanel, toPanel, out, outOffset, scratch);
        } else {
            VectorTiles.linear(
                    x,
                    xOffset,
                    rows,
                    w,
                    prepared,
                    bias,
                    biasOffset,
                    fromPanel,
                    toPanel,
                    out,
                    outOffset,
                    outStride,
                    scratch);
        }
    }

    /**
     * Writes {@code sums * scale + bias} for one vector of outputs, whose sums stand in memory: a vector that is handed to a method
     * which the compiler does not inline becomes an object.
     */
    static void finish(
            float[] scratch, int sums, int output, Panels w, float[] bias, int biasOffset, float[] out, int at) {
        float[] scale = w.scale();
        if (output + V <= w.outputs()) {
            FloatVector value = FloatVector.fromArray(FS, scratch, sums);
            if (scale != null) {
                value = value.mul(FloatVector.fromArray(FS, scale, output));
            }
            if (bias != null) {
                value = value.add(FloatVector.fromArray(FS, bias, biasOffset + output));
            }
            value.intoArray(out, at + output);
        } else if (output < w.outputs()) {
            ScalarKernels.finish(scratch, sums, scale, bias, biasOffset, output, w.outputs() - output, out, at);
        }
    }

    @Override
    public float expSum(float[] x, int at, int count, int spare) {
        return VectorAttention.expSum(x, at, count, spare);
    }

    @Override
    public void attention(AttentionPart part, float[] scratch) {
        if (part.dim % L != 0) {
            scalar.attention(part, scratch);
        } else {
            VectorAttention.part(part, scratch);
        }
    }

    @Override
    public void rmsNorm(
            float[] x,
            int xOffset,
            float[] weight,
            int weightOffset,
            float epsilon,
            int size,
            float[] out,
            int outOffset,
            float[] scratch) {
        if (size % L != 0) {
            scalar.rmsNorm(x, xOffset, weight, weightOffset, epsilon, size, out, outOffset, scratch);
            return;
        }
        for (int part = 0; part < L; part += V) {
            squares(x, xOffset + part, size).intoArray(scratch, part);
        }
        FloatVector factor = FloatVector.broadcast(FS, ScalarKernels.rms(Lanes.fold(scratch, 0), size, epsilon));
        for (int i = 0; i < size; i += V) {
            FloatVector.fromArray(FS, x, xOffset + i)
                    .mul(factor)
                    .mul(FloatVector.fromArray(FS, weight, weightOffset + i))
                    .intoArray(out, outOffset + i);
        }
    }

    private static FloatVector squares(float[] x, int from, int size) {
        FloatVector sum = FloatVector.zero(FS);
        for (int i = 0; i < size; i += L) {
            FloatVector value = FloatVector.fromArray(FS, x, from + i);
            sum = value.fma(value, sum);
        }
        return sum;
    }

    @Override
    public void swiglu(float[] gate, int gateOffset, float[] up, int upOffset, int size, float[] out, int outOffset) {
        int end = size - size % V;
        for (int i = 0; i < end; i += V) {
            FloatVector x = FloatVector.fromArray(FS, gate, gateOffset + i);
            FloatVector e = VectorForms.exp(x.lanewise(VectorOperators.NEG));
            x.div(e.add(1f)).mul(FloatVector.fromArray(FS, up, upOffset + i)).intoArray(out, outOffset + i);
        }
        scalar.swiglu(gate, gateOffset + end, up, upOffset + end, size - end, out, outOffset + end);
    }
}
