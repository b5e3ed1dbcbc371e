package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Numerics;
import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Decoded constants of a program, each once: fp32 arrays for general use, panels for linear layers. */
final class WeightStore {

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble F64 =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int L = Lanes.COUNT;

    private final WeightSource source;
    private final boolean declared;
    private final Map<WeightRef, float[]> decoded = new ConcurrentHashMap<>();
    private final Map<WeightRef, Panels> packed = new ConcurrentHashMap<>();

    /**
     * @param numerics whether decoded weights are rounded to the type they are declared with
     */
    WeightStore(WeightSource source, Numerics numerics) {
        this.source = source;
        this.declared = numerics == Numerics.DECLARED;
    }

    /** Forgets everything, so that the memory can be collected. */
    void clear() {
        decoded.clear();
        packed.clear();
    }

    /** The constant as fp32, row-major. Not to be written to. */
    float[] floats(WeightRef ref) {
        return decoded.computeIfAbsent(ref, this::decode);
    }

    /** A matrix {@code [outputs, inputs]}, or the weight of a 1×1 convolution, as panels. */
    Panels panels(WeightRef ref) {
        return packed.computeIfAbsent(ref, this::pack);
    }

    /** Says that a function's matrices are packed. */
    void packed() {
        source.packed();
    }

    /** A matrix {@code [outputs, inputs]} that was computed, as panels. */
    static Panels panels(float[] matrix, int offset, int outputs, int inputs) {
        float[] data = new float[Panels.length(outputs, inputs)];
        for (int n = 0; n < outputs; n++) {
            int to = n / L * inputs * L + n % L;
            for (int k = 0; k < inputs; k++) {
                data[to + k * L] = matrix[offset + n * inputs + k];
            }
        }
        return new Panels.F32(outputs, inputs, data);
    }

    private Panels pack(WeightRef ref) {
        int outputs = ref.type().axis(0);
        int inputs = Math.toIntExact(ref.type().elements() / Math.max(1, outputs));
        if (!declared) {
            Optional<Panels> compressed = compressed(ref, outputs, inputs);
            if (compressed.isPresent()) {
                return compressed.get();
            }
        }
        if (ref instanceof WeightRef.Plain(TensorType type, Literal.Blob blob)) {
            if (blob.type().dtype() == DType.FP16) {
                return packHalves(source.bytes(blob), outputs, inputs);
            }
            if (blob.type().dtype() == DType.FP32) {
                return packFloats(source.bytes(blob), outputs, inputs);
            }
        }
        return panels(decode(ref), 0, outputs, inputs);
    }

    /** Panels in the stored width, where there is a kernel for it. */
    private Optional<Panels> compressed(WeightRef ref, int outputs, int inputs) {
        return switch (ref) {
            case WeightRef.Blockwise blockwise
            when blockwise.perChannel() && blockwise.data() instanceof Literal.Blob blob ->
                Optional.of(packBytes(source.bytes(blob), outputs, inputs, numbers(blockwise.scale())));
            case WeightRef.Blockwise blockwise
            when blockwise.offset().isEmpty() && blockwise.data() instanceof Literal.Blob blob ->
                BlockPanels.blocks(
                        blob.type(), source.bytes(blob), blockwise.scale().type(), numbers(blockwise.scale()));
            case WeightRef.Palette palette
            when palette.indices() instanceof Literal.Blob blob ->
                BlockPanels.palette(
                        blob.type(), source.bytes(blob), palette.table().type(), numbers(palette.table()));
            case WeightRef.Ggml ggml
            when ggml.data() instanceof Literal.Blob blob ->
                Optional.of(GgmlPanels.pack(ggml.kind(), source.bytes(blob), outputs, inputs));
            default -> Optional.empty();
        };
    }

    private static Panels packBytes(MemorySegment from, int outputs, int inputs, float[] scale) {
        byte[] data = new byte[Panels.length(outputs, inputs)];
        byte[] rows = new byte[L * inputs];
        for (int n = 0; n < outputs; n += L) {
            int lanes = Math.min(L, outputs - n);
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, (long) n * inputs, rows, 0, lanes * inputs);
            for (int lane = 0; lane < lanes; lane++) {
                int to = n * inputs + lane;
                int row = lane * inputs;
                for (int k = 0; k < inputs; k++) {
                    data[to + k * L] = rows[row + k];
                }
            }
        }
        return new Panels.I8(outputs, inputs, data, scale);
    }

    private static Panels packHalves(MemorySegment from, int outputs, int inputs) {
        short[] data = new short[Panels.length(outputs, inputs)];
        short[] rows = new short[L * inputs];
        for (int n = 0; n < outputs; n += L) {
            int lanes = Math.min(L, outputs - n);
            MemorySegment.copy(from, I16, 2L * n * inputs, rows, 0, lanes * inputs);
            for (int lane = 0; lane < lanes; lane++) {
                int to = n * inputs + lane;
                int row = lane * inputs;
                for (int k = 0; k < inputs; k++) {
                    data[to + k * L] = rows[row + k];
                }
            }
        }
        return new Panels.F16(outputs, inputs, data);
    }

    private static Panels packFloats(MemorySegment from, int outputs, int inputs) {
        float[] data = new float[Panels.length(outputs, inputs)];
        float[] rows = new float[L * inputs];
        for (int n = 0; n < outputs; n += L) {
            int lanes = Math.min(L, outputs - n);
            MemorySegment.copy(from, F32, 4L * n * inputs, rows, 0, lanes * inputs);
            Panels.packRows(rows, 0, inputs, lanes, data, n * inputs);
        }
        return new Panels.F32(outputs, inputs, data);
    }

    private float[] decode(WeightRef ref) {
        float[] values = expand(ref);
        if (declared && !(ref instanceof WeightRef.Plain)) {
            Rounding.round(ref.type().dtype(), values, 0, values.length);
        }
        return values;
    }

    private float[] expand(WeightRef ref) {
        return switch (ref) {
            case WeightRef.Plain plain -> numbers(plain.data());
            case WeightRef.Blockwise blockwise -> blockwise(blockwise);
            case WeightRef.Affine affine -> affine(affine);
            case WeightRef.Palette palette -> palette(palette);
            case WeightRef.Ggml ggml -> ggml(ggml);
        };
    }

    private float[] ggml(WeightRef.Ggml ref) {
        float[] values = new float[Math.toIntExact(ref.type().elements())];
        if (!(ref.data() instanceof Literal.Blob blob)) {
            throw new TorchAneException("blocks of " + ref.kind().label() + " are not in a weight file");
        }
        ref.kind().dequantize(source.bytes(blob), values.length, MemorySegment.ofArray(values));
        return values;
    }

    private float[] blockwise(WeightRef.Blockwise ref) {
        float[] values = numbers(ref.data()).clone();
        float[] scale = numbers(ref.scale());
        float[] offset = ref.offset().map(this::numbers).orElse(null);
        int[] shape = shape(ref.type());
        int[] blocks = alignRank(shape(ref.scale().type()), shape.length);
        for (int i = 0; i < values.length; i++) {
            int at = blockIndex(i, shape, blocks);
            values[i] = scale[at] * (values[i] - (offset == null ? 0 : offset[offset.length == 1 ? 0 : at]));
        }
        return values;
    }

    private float[] affine(WeightRef.Affine ref) {
        float[] values = numbers(ref.data()).clone();
        float[] scale = numbers(ref.scale());
        float[] zero = numbers(ref.zeroPoint());
        int[] shape = shape(ref.type());
        int inner = 1;
        for (int axis = ref.axis() + 1; axis < shape.length; axis++) {
            inner *= shape[axis];
        }
        for (int i = 0; i < values.length; i++) {
            int channel = i / inner % shape[ref.axis()];
            values[i] = scale[scale.length == 1 ? 0 : channel] * (values[i] - zero[zero.length == 1 ? 0 : channel]);
        }
        return values;
    }

    private float[] palette(WeightRef.Palette ref) {
        float[] indices = numbers(ref.indices());
        float[] table = numbers(ref.table());
        int[] shape = shape(ref.indices().type());
        int[] tableShape = shape(ref.table().type());
        int rank = shape.length;
        int[] groups = java.util.Arrays.copyOf(tableShape, rank);
        int entries = tableShape[rank];
        int width = tableShape.length > rank + 1 ? tableShape[rank + 1] : 1;
        int[] outShape = shape(ref.type());
        int axis = Math.floorMod(ref.vectorAxis(), rank);
        float[] values = new float[Math.toIntExact(ref.type().elements())];
        int inner = 1;
        for (int a = axis + 1; a < rank; a++) {
            inner *= shape[a];
        }
        for (int i = 0; i < indices.length; i++) {
            int entry = (blockIndex(i, shape, groups) * entries + (int) indices[i]) * width;
            int outer = i / inner / shape[axis];
            int along = i / inner % shape[axis];
            for (int v = 0; v < width; v++) {
                int at = (outer * outShape[axis] + along * width + v) * inner + i % inner;
                values[at] = table[entry + v];
            }
        }
        return values;
    }

    /** Index, within a tensor of one element for each block, of the block that element {@code index} is in. */
    private static int blockIndex(int index, int[] shape, int[] blocks) {
        int at = 0;
        int stride = 1;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            int position = index % shape[axis];
            index /= shape[axis];
            at += stride * (int) ((long) position * blocks[axis] / shape[axis]);
            stride *= blocks[axis];
        }
        return at;
    }

    private static int[] alignRank(int[] shape, int rank) {
        if (shape.length == rank) {
            return shape;
        }
        int[] aligned = new int[rank];
        java.util.Arrays.fill(aligned, 1);
        System.arraycopy(shape, 0, aligned, 0, Math.min(rank, shape.length));
        return aligned;
    }

    private static int[] shape(TensorType type) {
        return type.shape().stream().mapToInt(Integer::intValue).toArray();
    }

    /** Elements of a literal as fp32. */
    private float[] numbers(Literal literal) {
        return switch (literal) {
            case Literal.Numbers numbers -> {
                float[] values = new float[numbers.values().size()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = numbers.values().get(i).floatValue();
                }
                yield values;
            }
            case Literal.Bool(boolean value) -> new float[] {value ? 1 : 0};
            case Literal.Blob blob -> numbers(source.bytes(blob), blob.type());
            default ->
                throw new TorchAneException("a constant of type " + literal.type() + " is not a tensor of numbers");
        };
    }

    private static float[] numbers(MemorySegment data, TensorType type) {
        float[] values = new float[Math.toIntExact(type.elements())];
        DType dtype = type.dtype();
        if (dtype == DType.FP32) {
            MemorySegment.copy(data, F32, 0, values, 0, values.length);
            return values;
        }
        for (int i = 0; i < values.length; i++) {
            values[i] = switch (dtype) {
                case FP16 -> Float.float16ToFloat(data.getAtIndex(I16, i));
                case BF16 -> Float.intBitsToFloat(data.getAtIndex(I16, i) << 16);
                case FP64 -> (float) data.getAtIndex(F64, i);
                case INT64, UINT64 -> data.getAtIndex(I64, i);
                case INT32 -> data.getAtIndex(I32, i);
                case UINT32 -> data.getAtIndex(I32, i) & 0xffff_ffffL;
                case INT16 -> data.getAtIndex(I16, i);
                case UINT16 -> data.getAtIndex(I16, i) & 0xffff;
                case INT8 -> data.get(ValueLayout.JAVA_BYTE, i);
                case UINT8, BOOL -> data.get(ValueLayout.JAVA_BYTE, i) & 0xff;
                case INT4 -> (bits(data, i, 4) << 28) >> 28;
                case UINT1, UINT2, UINT3, UINT4, UINT6 -> bits(data, i, dtype.bits());
                default -> throw new TorchAneException("constants of type " + type + " are not numbers");
            };
        }
        return values;
    }

    /** Element {@code index} of densely packed elements of {@code width} bits, lowest bits first. */
    private static int bits(MemorySegment data, int index, int width) {
        long bit = (long) index * width;
        long at = bit >>> 3;
        int word = data.get(ValueLayout.JAVA_BYTE, at) & 0xff;
        if (at + 1 < data.byteSize()) {
            word |= (data.get(ValueLayout.JAVA_BYTE, at + 1) & 0xff) << 8;
        }
        return word >>> (bit & 7) & ((1 << width) - 1);
    }
}
