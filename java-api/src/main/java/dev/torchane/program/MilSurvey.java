package dev.torchane.program;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A function as its text declares it, whether it can run or not.
 *
 * @param name entry point
 * @param opset operation set
 * @param inputs in order, with the types that stand in the text
 * @param shapes of inputs whose shape is open
 * @param outputs names of the results
 * @param operations how often each kind stands in the text, constants included
 * @param obstacles what cannot run, in the order of the text; empty when nothing stands in the way
 * @param function the function, with the default shapes where shapes are open; empty when there are obstacles
 */
public record MilSurvey(
        String name,
        String opset,
        List<Input> inputs,
        FlexibleShapes shapes,
        List<String> outputs,
        Map<String, Integer> operations,
        List<MilSyntaxException> obstacles,
        Optional<Function> function) {

    /** A declared input. */
    public record Input(String name, MilType type) {
        @Override
        public String toString() {
            return type + " " + name;
        }
    }

    public MilSurvey {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        operations = Collections.unmodifiableMap(new TreeMap<>(operations));
        obstacles = List.copyOf(obstacles);
    }
}
