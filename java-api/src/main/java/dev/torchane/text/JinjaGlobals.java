package dev.torchane.text;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The functions that transformers gives to chat templates. */
final class JinjaGlobals {

    private JinjaGlobals() {}

    static Map<String, Object> of(Supplier<LocalDateTime> clock) {
        Map<String, Object> globals = new HashMap<>();
        globals.put("range", (JinjaFunction) JinjaGlobals::range);
        globals.put("dict", (JinjaFunction) JinjaGlobals::dict);
        globals.put("namespace", (JinjaFunction) arguments -> {
            Map<String, Object> attributes = new LinkedHashMap<>();
            dict(arguments).forEach((key, value) -> attributes.put(JinjaValues.text(key), value));
            attributes.keySet().forEach(JinjaValues::checkAttribute);
            return new JinjaValues.Namespace(attributes);
        });
        globals.put("raise_exception", (JinjaFunction) arguments -> {
            throw new JinjaError(JinjaValues.text(arguments.get(0, "message")), 0, true);
        });
        globals.put("strftime_now", (JinjaFunction)
                arguments -> JinjaTime.format(clock.get(), arguments.string(0, "format")));
        return globals;
    }

    private static List<Object> range(JinjaFunction.Arguments arguments) {
        long first = JinjaValues.whole(arguments.get(0, "stop"));
        boolean single = arguments.count() == 1;
        long start = single ? 0 : first;
        long stop = single ? first : JinjaValues.whole(arguments.get(1, "stop"));
        long step = JinjaValues.whole(arguments.get(2, "step", 1L));
        if (step == 0) {
            throw new JinjaError("range has a step of 0");
        }
        List<Object> numbers = new ArrayList<>();
        for (long i = start; step > 0 ? i < stop : i > stop; i += step) {
            if (numbers.size() >= JinjaLimits.RANGE) {
                throw new JinjaError("range has more than " + JinjaLimits.RANGE + " numbers");
            }
            numbers.add(i);
        }
        return numbers;
    }

    private static Map<Object, Object> dict(JinjaFunction.Arguments arguments) {
        Map<Object, Object> map = new LinkedHashMap<>();
        if (arguments.count() > 0) {
            if (arguments.get(0, "mapping") instanceof Map<?, ?> other) {
                map.putAll(other);
            } else {
                for (Object pair : JinjaValues.items(arguments.get(0, "mapping"))) {
                    List<Object> both = JinjaValues.items(pair);
                    map.put(both.getFirst(), both.getLast());
                }
            }
        }
        map.putAll(arguments.named());
        return map;
    }
}
