package dev.torchane.weights;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;

/** The key-value part of a GGUF file. A key of another type than asked for is a {@link CheckpointFault.BadConfig}. */
public final class GgufMetadata {

    private final Path file;
    private final Map<String, Object> values;

    /** Values are {@code Long}, {@code Double}, {@code Boolean}, {@code String} or a {@code List} of one of these. */
    GgufMetadata(Path file, Map<String, Object> values) {
        this.file = file;
        this.values = values;
    }

    /** All keys, in the file's order. */
    public Set<String> keys() {
        return values.keySet();
    }

    /** A string. */
    public Optional<String> string(String key) {
        return Optional.ofNullable(value(key, String.class, "a string"));
    }

    /** A whole number of any width. */
    public OptionalLong integer(String key) {
        Long value = value(key, Long.class, "a whole number");
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** A floating point number; whole numbers are converted. */
    public OptionalDouble real(String key) {
        if (values.get(key) instanceof Long whole) {
            return OptionalDouble.of(whole);
        }
        Double value = value(key, Double.class, "a number");
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** A boolean. */
    public Optional<Boolean> bool(String key) {
        return Optional.ofNullable(value(key, Boolean.class, "a boolean"));
    }

    /** An array of strings; empty when the key is absent. */
    public List<String> strings(String key) {
        return list(key, String.class, "an array of strings");
    }

    /** An array of whole numbers; empty when the key is absent. */
    public List<Long> integers(String key) {
        return list(key, Long.class, "an array of whole numbers");
    }

    /** An array of floating point numbers; empty when the key is absent. */
    public List<Double> reals(String key) {
        return list(key, Double.class, "an array of numbers");
    }

    /** An array of booleans; empty when the key is absent. */
    public List<Boolean> bools(String key) {
        return list(key, Boolean.class, "an array of booleans");
    }

    /** Whether the key holds an array. */
    boolean isArray(String key) {
        return values.get(key) instanceof List<?>;
    }

    Path file() {
        return file;
    }

    private <T> T value(String key, Class<T> type, String expected) {
        Object value = values.get(key);
        if (value != null && !type.isInstance(value)) {
            throw wrongType(key, expected);
        }
        return type.cast(value);
    }

    @SuppressWarnings("unchecked") // every element of a list has the type of the first: the file has one type per array
    private <T> List<T> list(String key, Class<T> type, String expected) {
        Object value = values.getOrDefault(key, List.of());
        if (!(value instanceof List<?> list) || !list.isEmpty() && !type.isInstance(list.getFirst())) {
            throw wrongType(key, expected);
        }
        return (List<T>) list;
    }

    private CheckpointException wrongType(String key, String expected) {
        return new CheckpointFault.BadConfig(file, key, "is not " + expected).exception();
    }
}
