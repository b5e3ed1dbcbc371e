package dev.torchane.text;

import java.util.HashMap;
import java.util.Map;

/** Variables of a template, a loop's turn or a macro; what is not here is looked for outside. */
final class JinjaScope {

    private final JinjaScope outer;
    private final Map<String, Object> variables = new HashMap<>();

    JinjaScope(JinjaScope outer) {
        this.outer = outer;
    }

    void set(String name, Object value) {
        variables.put(name, value);
    }

    Object get(String name) {
        for (JinjaScope scope = this; scope != null; scope = scope.outer) {
            if (scope.variables.containsKey(name)) {
                return scope.variables.get(name);
            }
        }
        return new JinjaValues.Undefined(name);
    }
}
