package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.weights.WeightType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A weight file in memory: blobs of any type, by index. */
final class TestWeights implements WeightSource {

    private final List<MemorySegment> blobs = new ArrayList<>();

    @Override
    public MemorySegment bytes(Literal.Blob blob) {
        return blobs.get((int) blob.offset());
    }

    /** Stores numbers in a type, rounded to nearest. */
    Literal.Blob add(TensorType type, float... values) {
        MemorySegment data = MemorySegment.ofArray(new byte[(int) type.bytes()]);
        for (int i = 0; i < values.length; i++) {
            switch (type.dtype()) {
                case FP32 -> data.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, values[i]);
                case FP16 -> data.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, Float.floatToFloat16(values[i]));
                case INT8, UINT8 -> data.set(ValueLayout.JAVA_BYTE, i, (byte) values[i]);
                case UINT4, INT4 -> {
                    byte old = data.get(ValueLayout.JAVA_BYTE, i / 2);
                    data.set(ValueLayout.JAVA_BYTE, i / 2, (byte) (old | ((int) values[i] & 15) << 4 * (i % 2)));
                }
                default -> throw new IllegalArgumentException("no test weights of type " + type);
            }
        }
        blobs.add(data);
        return new Literal.Blob(type, "@model_path/weights/weight.bin", blobs.size() - 1);
    }

    /** Stores bytes as they are. */
    Literal.Blob add(TensorType type, byte[] bytes) {
        blobs.add(MemorySegment.ofArray(bytes));
        return new Literal.Blob(type, "@model_path/weights/weight.bin", blobs.size() - 1);
    }

    /** Blocks of a GGUF: random bytes, but scales that are ordinary numbers. */
    static byte[] blocks(WeightType kind, int elements, Random random) {
        byte[] data = new byte[(int) kind.bytes(elements)];
        random.nextBytes(data);
        int[] halves = switch (kind) {
            case Q4_1, Q5_1, Q4_K, Q5_K -> new int[] {0, 2};
            case Q2_K -> new int[] {80, 82};
            case Q3_K -> new int[] {108};
            case Q6_K -> new int[] {208};
            default -> new int[] {0};
        };
        for (int block = 0; block < data.length; block += kind.blockBytes()) {
            for (int half : halves) {
                short bits = Float.floatToFloat16((float) random.nextGaussian() / 100);
                data[block + half] = (byte) bits;
                data[block + half + 1] = (byte) (bits >> 8);
            }
        }
        return data;
    }

    /** A matrix [n, k] quantised to int8 with one scale for each row; {@code matrix} becomes what the program computes with. */
    Value int8(FunctionBuilder f, String name, float[] matrix, int n, int k) {
        float[] scale = new float[n];
        float[] quantised = new float[n * k];
        for (int row = 0; row < n; row++) {
            float max = 1e-6f;
            for (int i = 0; i < k; i++) {
                max = Math.max(max, Math.abs(matrix[row * k + i]));
            }
            scale[row] = max / 127;
            for (int i = 0; i < k; i++) {
                quantised[row * k + i] = Math.round(matrix[row * k + i] / scale[row]);
                matrix[row * k + i] = quantised[row * k + i] * scale[row];
            }
        }
        Value data = f.constant(name + "_q", add(TensorType.of(DType.INT8, n, k), quantised));
        Value scales = f.constant(name + "_s", add(TensorType.of(DType.FP32, n, 1), scale));
        return f.blockwiseShiftScale(name, data, scales);
    }

    /** A matrix [n, k] stored in fp16; {@code matrix} becomes what the program computes with. */
    Value fp16(FunctionBuilder f, String name, float[] matrix, int n, int k) {
        for (int i = 0; i < matrix.length; i++) {
            matrix[i] = Float.float16ToFloat(Float.floatToFloat16(matrix[i]));
        }
        return f.constexprCast(name, f.constant(name + "_h", add(TensorType.of(DType.FP16, n, k), matrix)));
    }

    Value fp32(FunctionBuilder f, String name, float[] values, int... shape) {
        return f.constant(name, add(TensorType.of(DType.FP32, shape), values));
    }
}
