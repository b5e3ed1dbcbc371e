package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.List;

/** Types and constants as Core AI's text has them. */
final class IrTypes {

    private IrTypes() {}

    /** As in {@code tensor<2x3xf16>}. */
    static String tensor(TensorType type) {
        StringBuilder text = new StringBuilder("tensor<");
        type.shape().forEach(size -> text.append(size).append('x'));
        return text.append(element(type.dtype())).append('>').toString();
    }

    /** As in {@code f16}, {@code si32}, {@code ui4}, {@code i1}. */
    static String element(DType dtype) {
        return switch (dtype) {
            case FP64, FP32, FP16 -> "f" + dtype.bits();
            case BF16 -> "bf16";
            case BOOL -> "i1";
            case INT64, INT32, INT16, INT8, INT4 -> "si" + dtype.bits();
            case UINT64, UINT32, UINT16, UINT8, UINT6, UINT4, UINT3, UINT2, UINT1 -> "ui" + dtype.bits();
            case STRING -> throw new IllegalArgumentException("text is no tensor in Core AI");
        };
    }

    /** As in {@code dense<[[1.0, 2.0]]>}. */
    static String dense(TensorType type, List<Double> values) {
        if (values.isEmpty()) {
            return "dense<>";
        }
        if (values.stream().allMatch(values.getFirst()::equals)) {
            return "dense<" + number(type.dtype(), values.getFirst()) + ">";
        }
        StringBuilder text = new StringBuilder("dense<");
        list(text, type, values, 0, 0);
        return text.append('>').toString();
    }

    private static int list(StringBuilder text, TensorType type, List<Double> values, int axis, int first) {
        if (axis == type.rank()) {
            text.append(number(type.dtype(), values.get(first)));
            return first + 1;
        }
        int at = first;
        for (int i = 0; i < type.axis(axis); i++) {
            text.append(i == 0 ? "[" : ", ");
            at = list(text, type, values, axis + 1, at);
        }
        text.append(']');
        return at;
    }

    private static String number(DType dtype, double value) {
        if (dtype == DType.BOOL) {
            return value != 0 ? "true" : "false";
        }
        if (!dtype.isFloat()) {
            return Long.toString((long) value);
        }
        if (Double.isFinite(value)) {
            return Double.toString(value);
        }
        return switch (dtype) {
            case FP16 -> "0x%04X".formatted(Float.floatToFloat16((float) value) & 0xffff);
            case BF16 -> "0x%04X".formatted(Float.floatToIntBits((float) value) >>> 16);
            case FP32 -> "0x%08X".formatted(Float.floatToIntBits((float) value));
            default -> "0x%016X".formatted(Double.doubleToLongBits(value));
        };
    }
}
