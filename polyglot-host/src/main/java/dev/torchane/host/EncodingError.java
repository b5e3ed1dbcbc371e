package dev.torchane.host;

import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * How far stored values are from their source.
 *
 * @param largest largest absolute difference
 * @param squares sum of the squared differences
 */
record EncodingError(double largest, double squares) {

    /** Adds up differences, one by one. */
    static final class Sum {
        private double largest;
        private double squares;

        void add(double difference) {
            largest = Math.max(largest, Math.abs(difference));
            squares += difference * difference;
        }

        EncodingError error() {
            return new EncodingError(largest, squares);
        }
    }

    /** Of all the parts together; worked on by all cores, summed up in their order. */
    static EncodingError ofParts(int parts, IntFunction<EncodingError> part) {
        EncodingError[] errors =
                IntStream.range(0, parts).parallel().mapToObj(part).toArray(EncodingError[]::new);
        double largest = 0;
        double squares = 0;
        for (EncodingError error : errors) {
            largest = Math.max(largest, error.largest);
            squares += error.squares;
        }
        return new EncodingError(largest, squares);
    }

    /** Root of the mean square over {@code elements} values. */
    double rms(long elements) {
        return elements == 0 ? 0 : Math.sqrt(squares / elements);
    }
}
