package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One function as a graph of Core AI.
 *
 * <pre>
 * Given   tensor x, state s      Result  %x: tensor&lt;…&gt; {coreai.name = "x"}, %s: !coreai.handle&lt;tensor&lt;…&gt;&gt; {coreai.name = "s"}
 * Given   read_state, …,         Result  one read_handle at the first read, one write_handle behind everything;
 *         write_state, …                 between them a state is the value that was written last
 * Given   const                  Result  coreai.constant where it is a tensor operand, nothing where it is a size or a mode
 * </pre>
 */
final class FunctionText {

    private final Function function;
    private final CoreAiOptions options;
    private final WeightItems items;
    private final Ir ir = new Ir();
    private final ConstantText constants;
    private final Map<String, Ref> values = new HashMap<>();
    private final Map<String, Literal> literals = new HashMap<>();
    private final Map<String, Ref> states = new LinkedHashMap<>();
    private final Map<String, Ref> written = new LinkedHashMap<>();
    private final Map<String, String> tokens = new HashMap<>();
    private final Map<String, Operation> definitions = new HashMap<>();
    private final Composites composites;
    private final StringBuilder graphs = new StringBuilder();

    private FunctionText(Function function, WeightItems items, CoreAiOptions options) {
        this.function = function;
        this.options = options;
        this.constants = new ConstantText(ir, items, this::literal);
        this.items = items;
        this.composites = options.composites() ? Composites.of(function) : Composites.none();
    }

    /** The graph. */
    static String of(Function function, WeightItems items, CoreAiOptions options) {
        try {
            return new FunctionText(function, items, options).graphs();
        } catch (TorchAneException e) {
            throw new TorchAneException("function '" + function.name() + "': " + e.getMessage(), e);
        }
    }

    private String graphs() {
        String own = graph("", List.of(), "");
        return graphs.append(own).toString();
    }

    /** One of a composite's own, with Core AI's names for its operands. */
    private String composite(Composites.Composite composite) {
        return graph("private noinline ", composite.names(), " attributes " + composite.declaration());
    }

    private String graph(String kind, List<String> argumentNames, String attributes) {
        List<String> arguments = new ArrayList<>();
        for (int i = 0; i < function.inputs().size(); i++) {
            Value input = function.inputs().get(i);
            String type = IrTypes.tensor(input.type());
            String name = "%in_" + input.name();
            String given = argumentNames.isEmpty() ? input.name() : argumentNames.get(i);
            arguments.add("%s: %s {coreai.name = \"%s\"}"
                    .formatted(name, input.state() ? "!coreai.handle<" + type + ">" : type, given));
            if (!input.state()) {
                values.put(input.name(), new Ref(name, input.type()));
            }
        }
        function.operations().forEach(this::operation);
        written.forEach(this::store);
        List<String> results = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<String> types = new ArrayList<>();
        for (Value output : function.outputs()) {
            Ref ref = value(output);
            String type = IrTypes.tensor(ref.type());
            results.add("%s {coreai.name = \"%s\"}"
                    .formatted(type, argumentNames.isEmpty() ? output.name() : Composites.OUTPUT));
            names.add(ref.name());
            types.add(type);
        }
        for (Value state : function.states()) {
            names.add(token(state.name()));
            types.add("!coreai.token");
            results.add("!coreai.token");
        }
        ir.line("coreai.output %s : %s".formatted(String.join(", ", names), String.join(", ", types)));
        return "  coreai.graph %s@%s(%s) -> (%s)%s {\n%s  }\n"
                .formatted(
                        kind,
                        function.name(),
                        String.join(", ", arguments),
                        String.join(", ", results),
                        attributes,
                        ir.text());
    }

    private void operation(Operation operation) {
        Optional<Literal> constant = operation.constant();
        if (constant.isPresent()) {
            literals.put(operation.output().name(), constant.get());
            return;
        }
        Optional<Composites.Composite> composite = composites.of(operation);
        if (composite.isPresent()) {
            if (operation.output().equals(composite.get().output())) {
                invoke(composite.get());
            }
            return;
        }
        operation.outputs().forEach(output -> definitions.put(output.name(), operation));
        switch (operation.kind()) {
            case "read_state" ->
                values.put(
                        operation.output().name(),
                        state(operation.input("input").orElseThrow()));
            case "write_state" -> {
                Value state = operation.input("input").orElseThrow();
                Ref data = value(operation.input("data").orElseThrow());
                states.put(state.name(), data);
                written.put(state.name(), data);
            }
            default -> {
                List<Ref> results = results(operation);
                for (int i = 0; i < results.size(); i++) {
                    Value output = operation.outputs().get(i);
                    if (!results.get(i).type().equals(output.type())) {
                        throw new IllegalStateException(operation.kind() + " '" + output.name() + "' became "
                                + results.get(i).type() + ", expected " + output.type());
                    }
                    values.put(output.name(), results.get(i));
                }
            }
        }
    }

    private void invoke(Composites.Composite composite) {
        FunctionText inner = new FunctionText(composite.function(), items, options.withComposites(false));
        graphs.append(inner.composite(composite));
        Ref[] operands = composite.function().inputs().stream().map(this::value).toArray(Ref[]::new);
        String callee = "<{callee = #param.constant<@%s> : !param.symbol}>"
                .formatted(composite.function().name());
        values.put(
                composite.output().name(),
                ir.op("invoke", callee, composite.output().type(), operands));
    }

    private List<Ref> results(Operation operation) {
        if (ConstantText.known(operation.kind())) {
            return List.of(constants.expression(operation));
        }
        OperationCall call = new OperationCall(operation, ir, this::value, this::literal, definitions);
        if (operation.kind().equals("slice_update") && options.cacheWrites() == CoreAiOptions.CacheWrites.ONE_HOT) {
            Optional<Ref> blended = OneHotWrite.of(call);
            if (blended.isPresent()) {
                return List.of(blended.get());
            }
        }
        Emitter emitter = Emitters.find(operation.kind())
                .orElseThrow(() -> call.refuse(Emitters.REFUSED.getOrDefault(operation.kind(), "it is not known")));
        return emitter.emit(call);
    }

    private Ref value(Value value) {
        return values.computeIfAbsent(value.name(), name -> constants.literal(name, literals.get(name)));
    }

    private Optional<Literal> literal(Value value) {
        return Optional.ofNullable(literals.get(value.name()));
    }

    /** What has to be done before a state is touched: Core AI orders reads and writes of each by tokens. */
    private String token(String state) {
        return tokens.computeIfAbsent(state, name -> {
            ir.line("%token_" + name + " = coreai.create_token : !coreai.token");
            return "%token_" + name;
        });
    }

    private Ref state(Value state) {
        return states.computeIfAbsent(state.name(), name -> {
            String before = token(name);
            Ref read = new Ref("%state_" + name, state.type());
            String after = "%read_" + name;
            String type = IrTypes.tensor(state.type());
            ir.line(
                    "%s, %s = coreai.read_handle %%in_%s, %s : (!coreai.handle<%s>, !coreai.token) -> (%s, !coreai.token)"
                            .formatted(read.name(), after, name, before, type, type));
            tokens.put(name, after);
            return read;
        });
    }

    private void store(String name, Ref data) {
        String before = token(name);
        String after = "%written_" + name;
        String type = IrTypes.tensor(data.type());
        ir.line("%s = coreai.write_handle %%in_%s, %s, %s : (!coreai.handle<%s>, %s, !coreai.token) -> !coreai.token"
                .formatted(after, name, data.name(), before, type, type));
        tokens.put(name, after);
    }
}
