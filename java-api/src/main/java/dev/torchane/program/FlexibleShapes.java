package dev.torchane.program;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the attribute {@code FlexibleShapeInformation} of a function says of inputs whose shape is open.
 *
 * @param defaults shape of each input where a caller chooses none
 * @param enumerated the sets of shapes that may be chosen, by their key in the text, in its order
 * @param ranges for each input the least and largest size of each axis; the largest is {@link MilType#OPEN} where there is none
 */
public record FlexibleShapes(
        Map<String, List<Integer>> defaults,
        Map<String, Map<String, List<Integer>>> enumerated,
        Map<String, List<Range>> ranges) {

    /** Sizes that an axis may have. */
    public record Range(int least, int most) {
        @Override
        public String toString() {
            return least == most ? Integer.toString(least) : least + ".." + (most == MilType.OPEN ? "" : most);
        }
    }

    /** Of a function whose shapes are fixed. */
    static final FlexibleShapes NONE = new FlexibleShapes(Map.of(), Map.of(), Map.of());

    public FlexibleShapes {
        defaults = Collections.unmodifiableMap(new LinkedHashMap<>(defaults));
        enumerated = Collections.unmodifiableMap(new LinkedHashMap<>(enumerated));
        ranges = Collections.unmodifiableMap(new LinkedHashMap<>(ranges));
    }

    /** Whether it says nothing. */
    public boolean isEmpty() {
        return defaults.isEmpty() && enumerated.isEmpty() && ranges.isEmpty();
    }
}
