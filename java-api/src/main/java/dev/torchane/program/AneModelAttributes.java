package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The functions and buffers of a model that macOS has loaded on the Neural Engine: what {@code modelAttributes} of an
 * {@code _ANEModel} says. The compiler orders buffers as it likes, so a caller finds them by name here, never by their order in
 * the program.
 *
 * @param procedures the program's functions by their number
 */
public record AneModelAttributes(List<Procedure> procedures) {

    /**
     * A function.
     *
     * @param name as the program has it, without the number of its network ({@code 0@main} is {@code main})
     * @param id number to call it by
     */
    public record Procedure(String name, int id, List<Buffer> inputs, List<Buffer> outputs) {
        public Procedure {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }

        /**
         * The buffer of an input or output.
         *
         * @throws IllegalArgumentException when there is none; the message lists the names
         */
        public Buffer buffer(String wanted) {
            return java.util.stream.Stream.concat(inputs.stream(), outputs.stream())
                    .filter(buffer -> buffer.name().equals(wanted))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("function '" + name + "' has no buffer '" + wanted
                            + "'; it has inputs "
                            + inputs.stream().map(Buffer::name).toList() + " and outputs "
                            + outputs.stream().map(Buffer::name).toList()));
        }
    }

    /**
     * An input or output.
     *
     * @param name as the program has it ({@code y@output} is {@code y})
     * @param symbol number to bind memory to
     * @param layout sizes and strides, such as {@code Width}, {@code RowStride} in bytes, as the attributes have them
     */
    public record Buffer(String name, int symbol, Map<String, Long> layout) {
        public Buffer {
            layout = Collections.unmodifiableMap(new LinkedHashMap<>(layout));
        }
    }

    public AneModelAttributes {
        procedures = List.copyOf(procedures);
    }

    /**
     * Reads attributes as macOS prints a dictionary ({@code { ANEFModelDescription = { … }; }}), alone or within a log line such as
     * the description of an {@code _ANEModel}.
     *
     * @throws TorchAneException when they are malformed, or numbers in them lead nowhere; names line, column, expected and found
     */
    public static AneModelAttributes parse(String text) {
        Map<?, ?> root = PropertyText.dictionaryWith(text, "ANEFModelDescription");
        Map<?, ?> model = dictionary(root.get("ANEFModelDescription"));
        List<?> inputs = list(model, "ANEFModelInputSymbolsArray");
        List<?> outputs = list(model, "ANEFModelOutputSymbolsArray");
        Map<Integer, String> names = new LinkedHashMap<>();
        dictionary(find(model, "ANEFModelProcedureNameToIDMap"))
                .forEach((name, id) -> names.put((int) number(id), "" + name));
        List<Procedure> procedures = new ArrayList<>();
        for (Object each : list(model, "ANEFModelProcedures")) {
            Map<?, ?> procedure = dictionary(each);
            int id = (int) number(find(procedure, "ANEFModelProcedureID"));
            String full = names.getOrDefault(id, Integer.toString(id));
            Map<?, ?> network = network(root, full);
            procedures.add(new Procedure(
                    full.substring(full.indexOf('@') + 1),
                    id,
                    buffers(list(procedure, "ANEFModelInputSymbolIndexArray"), inputs, network, "LiveInputList"),
                    buffers(list(procedure, "ANEFModelOutputSymbolIndexArray"), outputs, network, "LiveOutputList")));
        }
        return new AneModelAttributes(procedures);
    }

    private static Map<?, ?> network(Map<?, ?> root, String name) {
        if (root.get("NetworkStatusList") instanceof List<?> networks) {
            for (Object network : networks) {
                if (name.equals(dictionary(network).get("Name"))) {
                    return dictionary(network);
                }
            }
        }
        return Map.of();
    }

    private static List<Buffer> buffers(List<?> indices, List<?> symbols, Map<?, ?> network, String live) {
        List<Buffer> buffers = new ArrayList<>();
        for (Object index : indices) {
            long symbol = number(index);
            if (symbol < 0 || symbol >= symbols.size()) {
                throw new TorchAneException("modelAttributes: expected the number of one of " + symbols.size()
                        + " symbols, found " + symbol);
            }
            String name = symbols.get((int) symbol).toString();
            buffers.add(new Buffer(shortened(name), (int) symbol, layout(network.get(live), name)));
        }
        return buffers;
    }

    private static String shortened(String symbol) {
        int at = symbol.indexOf('@');
        return at < 0 ? symbol : symbol.substring(0, at);
    }

    private static Map<String, Long> layout(Object live, String symbol) {
        Map<String, Long> layout = new LinkedHashMap<>();
        if (live instanceof List<?> buffers) {
            for (Object buffer : buffers) {
                Map<?, ?> fields = dictionary(buffer);
                if (symbol.equals(fields.get("Symbol")) || symbol.equals(fields.get("Name"))) {
                    collect(fields, layout);
                }
            }
        }
        return layout;
    }

    /** Numbers of a buffer, and of the first of its planes. */
    private static void collect(Map<?, ?> fields, Map<String, Long> layout) {
        fields.forEach((key, value) -> {
            Optional<Long> number = PropertyText.number(value);
            number.ifPresent(each -> layout.put(key.toString(), each));
            if (value instanceof List<?> planes && !planes.isEmpty() && planes.getFirst() instanceof Map<?, ?> plane) {
                collect(plane, layout);
            }
        });
    }

    /** An entry, under its name or the name of the constant that stands for it ({@code kANEF…Key}). */
    private static Object find(Map<?, ?> fields, String name) {
        Object value = fields.get(name);
        return value != null ? value : fields.get("k" + name + "Key");
    }

    private static List<?> list(Map<?, ?> fields, String name) {
        if (find(fields, name) instanceof List<?> list) {
            return list;
        }
        throw new TorchAneException("modelAttributes: expected a list '" + name + "', found " + fields.keySet());
    }

    private static Map<?, ?> dictionary(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw new TorchAneException("modelAttributes: expected a dictionary, found " + value);
    }

    private static long number(Object value) {
        return PropertyText.number(value)
                .orElseThrow(() -> new TorchAneException("modelAttributes: expected a number, found " + value));
    }
}
