package dev.torchane.engine;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Memory with a type: densely packed, row-major, little-endian.
 *
 * @param type element type and shape
 * @param data at least {@code type.bytes()} bytes; its arena decides how long it lives
 */
public record Tensor(TensorType type, MemorySegment data) {

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    public Tensor {
        if (data.byteSize() < type.bytes()) {
            throw new IllegalArgumentException(
                    "a tensor of type " + type + " needs " + type.bytes() + " bytes, found " + data.byteSize());
        }
    }

    /** A zeroed tensor in an arena, 64-byte aligned. */
    public static Tensor allocate(TensorType type, Arena arena) {
        return new Tensor(type, arena.allocate(Math.max(1, type.bytes()), 64));
    }

    /** A zeroed tensor in memory that the garbage collector frees. */
    public static Tensor allocate(TensorType type) {
        return allocate(type, Arena.ofAuto());
    }

    /** A tensor of fp32, fp16 or int32 from fp32 numbers, rounded to nearest even. */
    public static Tensor of(TensorType type, float... values) {
        if (values.length != type.elements()) {
            throw new IllegalArgumentException(
                    "type " + type + " has " + type.elements() + " elements, found " + values.length);
        }
        Tensor tensor = allocate(type);
        for (int i = 0; i < values.length; i++) {
            tensor.set(i, values[i]);
        }
        return tensor;
    }

    /** Element {@code index} in row-major order, as fp32 (fp32, fp16, bf16, int32, int16, uint16, int8, uint8, bool). */
    public float get(long index) {
        return switch (type.dtype()) {
            case FP32 -> data.getAtIndex(F32, index);
            case FP16 -> Float.float16ToFloat(data.getAtIndex(I16, index));
            case BF16 -> Float.intBitsToFloat(data.getAtIndex(I16, index) << 16);
            case INT32 -> data.getAtIndex(I32, index);
            case INT16 -> data.getAtIndex(I16, index);
            case UINT16 -> data.getAtIndex(I16, index) & 0xffff;
            case INT8 -> data.get(ValueLayout.JAVA_BYTE, index);
            case UINT8, BOOL -> data.get(ValueLayout.JAVA_BYTE, index) & 0xff;
            default -> throw unsupported();
        };
    }

    /** Sets element {@code index} from fp32, rounding to the element type. */
    public void set(long index, float value) {
        switch (type.dtype()) {
            case FP32 -> data.setAtIndex(F32, index, value);
            case FP16 -> data.setAtIndex(I16, index, Float.floatToFloat16(value));
            case INT32 -> data.setAtIndex(I32, index, (int) value);
            case INT16, UINT16 -> data.setAtIndex(I16, index, (short) (int) value);
            case INT8, UINT8, BOOL -> data.set(ValueLayout.JAVA_BYTE, index, (byte) (int) value);
            default -> throw unsupported();
        }
    }

    /** All elements as fp32. */
    public float[] toFloats() {
        return toFloats(0, Math.toIntExact(type.elements()));
    }

    /** {@code count} elements from {@code first} on in row-major order, as fp32. */
    public float[] toFloats(long first, int count) {
        float[] values = new float[count];
        if (type.dtype() == DType.FP32) {
            MemorySegment.copy(data, F32, 4 * first, values, 0, count);
        } else {
            for (int i = 0; i < count; i++) {
                values[i] = get(first + i);
            }
        }
        return values;
    }

    private IllegalArgumentException unsupported() {
        return new IllegalArgumentException(
                "elements of type " + type.dtype().mil() + " cannot be read as fp32 one by one");
    }
}
