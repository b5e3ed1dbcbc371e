package dev.torchane.program;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.StringJoiner;

/**
 * A type as MIL text writes it. Programs compute with tensors of fixed shape ({@link TensorType}); the other types stand in
 * what Core ML and its tools write, and are read so that a file can be understood, and what cannot run in it be named.
 */
public sealed interface MilType {

    /** A size that the text leaves open ({@code ?}). */
    int OPEN = -1;

    /** The tensor of fixed shape that holds a value of this type, if there is one. */
    default Optional<TensorType> fixed() {
        return Optional.empty();
    }

    /**
     * A tensor, or a scalar.
     *
     * @param shape sizes of the axes, {@link #OPEN} where the text has a question mark
     */
    record OfTensor(DType dtype, List<Integer> shape) implements MilType {
        public OfTensor {
            shape = List.copyOf(shape);
        }

        @Override
        public Optional<TensorType> fixed() {
            return shape.contains(OPEN) ? Optional.empty() : Optional.of(new TensorType(dtype, shape));
        }

        @Override
        public String toString() {
            return shape.isEmpty()
                    ? dtype.mil()
                    : "tensor<" + dtype.mil() + ", " + shape.toString().replace("-1", "?") + ">";
        }
    }

    /** A state, which lives between calls. */
    record OfState(MilType contents) implements MilType {
        @Override
        public Optional<TensorType> fixed() {
            return contents.fixed();
        }

        @Override
        public String toString() {
            return "state<" + contents + ">";
        }
    }

    /** Several values of given types. */
    record OfTuple(List<MilType> members) implements MilType {
        public OfTuple {
            members = List.copyOf(members);
        }

        @Override
        public String toString() {
            StringJoiner text = new StringJoiner(", ", "tuple<", ">");
            members.forEach(member -> text.add(member.toString()));
            return text.toString();
        }
    }

    /** Values of one type; empty {@code length} where the text gives none, or a question mark. */
    record OfList(MilType element, OptionalInt length) implements MilType {
        @Override
        public String toString() {
            return "list<" + element + ", " + (length.isPresent() ? length.getAsInt() : "?") + ">";
        }
    }

    /** Pairs of key and value. */
    record OfDictionary(MilType key, MilType value) implements MilType {
        @Override
        public String toString() {
            return "dict<" + key + ", " + value + ">";
        }
    }

    /**
     * Memory laid out for hardware: a {@code tensor_buffer}, with a {@code shape} and the {@code strides} of its axes in
     * elements, or a {@code pixel_buffer}.
     *
     * @param kind {@code tensor_buffer} or {@code pixel_buffer}
     * @param dtype element type, where the text begins with one
     * @param properties what else stands in the angle brackets, by name, as text; unnamed ones by their place
     * @param shape what {@code shape} says; empty where it is not given or has question marks
     */
    record OfBuffer(String kind, Optional<DType> dtype, Map<String, String> properties, Optional<List<Integer>> shape)
            implements MilType {
        public OfBuffer {
            properties = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(properties));
            shape = shape.map(List::copyOf);
        }

        /** A tensor buffer's values, whatever its strides. */
        @Override
        public Optional<TensorType> fixed() {
            return kind.equals("tensor_buffer") && dtype.isPresent()
                    ? shape.map(sizes -> new TensorType(dtype.get(), sizes))
                    : Optional.empty();
        }

        @Override
        public String toString() {
            StringJoiner text = new StringJoiner(", ", kind + "<", ">");
            dtype.ifPresent(each -> text.add(each.mil()));
            properties.forEach(
                    (name, value) -> text.add(Character.isDigit(name.charAt(0)) ? value : name + "=" + value));
            return text.toString();
        }
    }
}
