package dev.torchane.text;

import java.util.List;
import java.util.Map;

/** Something a template can call: a macro, a method, a global function. */
interface JinjaFunction {

    Object call(Arguments arguments);

    /** Evaluated arguments of a call. */
    record Arguments(List<Object> positional, Map<String, Object> named) {

        static final Arguments NONE = new Arguments(List.of(), Map.of());

        int count() {
            return positional.size();
        }

        boolean has(int index, String name) {
            return index < positional.size() || named.containsKey(name);
        }

        /** An argument by position or name. */
        Object get(int index, String name, Object otherwise) {
            if (index < positional.size()) {
                return positional.get(index);
            }
            return named.containsKey(name) ? named.get(name) : otherwise;
        }

        /** An argument that must be there. */
        Object get(int index, String name) {
            if (!has(index, name)) {
                throw new JinjaError("argument '" + name + "' is missing");
            }
            return get(index, name, null);
        }

        String string(int index, String name) {
            return JinjaValues.string(get(index, name), name);
        }

        /** The arguments from an index on. */
        Arguments from(int index) {
            return new Arguments(positional.subList(Math.min(index, positional.size()), positional.size()), named);
        }
    }
}
