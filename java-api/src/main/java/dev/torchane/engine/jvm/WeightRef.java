package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.weights.WeightType;
import java.util.Optional;

/**
 * A constant tensor as the program stores it, not yet decoded. Two functions that use the same blob have equal references, so
 * they share the decoded form.
 */
sealed interface WeightRef {

    /** Type of the decoded tensor. */
    TensorType type();

    /** Bytes of the stored form. */
    default long storedBytes() {
        return switch (this) {
            case Plain plain -> plain.data().type().bytes();
            case Blockwise blockwise -> blockwise.data().type().bytes();
            case Affine affine -> affine.data().type().bytes();
            case Palette palette -> palette.indices().type().bytes();
            case Ggml ggml -> ggml.data().type().bytes();
        };
    }

    /** A {@code const}, or one behind {@code constexpr_cast}. */
    record Plain(TensorType type, Literal data) implements WeightRef {}

    /**
     * {@code constexpr_blockwise_shift_scale}: {@code scale * (data - offset)}; each axis of scale divides the axis of data into
     * blocks.
     */
    record Blockwise(TensorType type, Literal data, Literal scale, Optional<Literal> offset) implements WeightRef {

        /** Whether there is one scale for each index of the first axis, int8 data, and no offset. */
        boolean perChannel() {
            return offset.isEmpty()
                    && data.type().dtype() == DType.INT8
                    && scale.type().elements() == type.axis(0)
                    && scale.type().axis(0) == type.axis(0);
        }
    }

    /** {@code constexpr_affine_dequantize}: {@code scale * (data - zeroPoint)} along one axis. */
    record Affine(TensorType type, Literal data, Literal scale, Literal zeroPoint, int axis) implements WeightRef {}

    /**
     * {@code constexpr_lut_to_dense}: each index selects a vector of its group's table. Shape of the table: groups along each
     * axis of the indices, then entries, then the vector's size.
     */
    record Palette(TensorType type, Literal indices, Literal table, int vectorAxis) implements WeightRef {}

    /** {@code ane.constexpr_ggml}: blocks as a GGUF file stores them. */
    record Ggml(TensorType type, Literal data, WeightType kind) implements WeightRef {}
}
