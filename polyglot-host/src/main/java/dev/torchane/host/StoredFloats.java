package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Floats of the file, fp32 or fp16: what is written is what a reader will see. */
record StoredFloats(DType type, MemorySegment data) {

    static StoredFloats allocate(DType type, long elements, Arena arena) {
        return new StoredFloats(type, Packed.allocate(type.bytes(elements), arena));
    }

    /** The value as it will be stored: infinite when fp16 cannot hold it. */
    static float rounded(DType type, float value) {
        return type == DType.FP16 ? Float.float16ToFloat(Float.floatToFloat16(value)) : value;
    }

    /** Stores a value and answers it as it is stored. */
    float set(long index, float value) {
        if (type == DType.FP16) {
            short half = Float.floatToFloat16(value);
            data.setAtIndex(WeightRows.I16, index, half);
            return Float.float16ToFloat(half);
        }
        data.setAtIndex(WeightRows.F32, index, value);
        return value;
    }

    /**
     * The refusal of a weight that fp16 cannot hold.
     *
     * @param row where it was found
     */
    static TorchAneException beyondHalf(String name, float value, int row) {
        return new TorchAneException("weight '" + name + "' holds " + value + " in row " + row
                + ", beyond fp16's 65504: build it with weights int8 or fp32");
    }
}
