package dev.torchane.program;

import java.util.Arrays;
import java.util.List;

/** A compile-time value: the {@code val} of a {@code const}, or an attribute of an operation. */
public sealed interface Literal extends Operand {

    /** Type of the value. */
    TensorType type();

    /** Text. */
    record Text(String value) implements Literal {
        @Override
        public TensorType type() {
            return TensorType.of(DType.STRING);
        }
    }

    /** Truth. */
    record Bool(boolean value) implements Literal {
        @Override
        public TensorType type() {
            return TensorType.of(DType.BOOL);
        }
    }

    /**
     * Numbers written in the program itself, scalar or tensor, row-major; rounded to the element type. Integers and truth
     * values (0, 1) are exact up to 2^53.
     *
     * @throws IllegalArgumentException when the count is not the type's, or an integer type cannot hold a number
     */
    record Numbers(TensorType type, List<Double> values) implements Literal {
        public Numbers {
            if (values.size() != type.elements()) {
                throw new IllegalArgumentException(
                        "a literal of type " + type + " needs " + type.elements() + " numbers, found " + values.size());
            }
            Double[] rounded = new Double[values.size()];
            for (int i = 0; i < rounded.length; i++) {
                rounded[i] = type.dtype().rounded(values.get(i));
            }
            values = List.of(rounded);
        }
    }

    /** Several texts. */
    record Texts(List<String> values) implements Literal {
        public Texts {
            values = List.copyOf(values);
        }

        @Override
        public TensorType type() {
            return TensorType.of(DType.STRING, values.size());
        }
    }

    /**
     * Bytes in a weight file.
     *
     * @param path file as written in MIL, such as {@code @model_path/weights/weight.bin}
     * @param offset byte offset of the blob's metadata record in the file
     */
    record Blob(TensorType type, String path, long offset) implements Literal {}

    /** Text. */
    static Literal text(String value) {
        return new Text(value);
    }

    /** Truth. */
    static Literal bool(boolean value) {
        return new Bool(value);
    }

    /** A vector of truth values. */
    static Literal bools(boolean... values) {
        Double[] numbers = new Double[values.length];
        for (int i = 0; i < values.length; i++) {
            numbers[i] = values[i] ? 1.0 : 0.0;
        }
        return new Numbers(TensorType.of(DType.BOOL, values.length), Arrays.asList(numbers));
    }

    /** A scalar integer of type int32. */
    static Literal int32(int value) {
        return new Numbers(TensorType.of(DType.INT32), List.of((double) value));
    }

    /** A vector of int32. */
    static Literal int32s(List<Integer> values) {
        return new Numbers(
                TensorType.of(DType.INT32, values.size()),
                values.stream().map(Integer::doubleValue).toList());
    }

    /** A vector of int32. */
    static Literal int32s(int... values) {
        return int32s(Arrays.stream(values).boxed().toList());
    }

    /** A scalar of a floating-point type. */
    static Literal scalar(DType dtype, double value) {
        return new Numbers(TensorType.of(dtype), List.of(value));
    }
}
