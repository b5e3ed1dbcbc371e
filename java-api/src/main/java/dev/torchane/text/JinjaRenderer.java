package dev.torchane.text;

import dev.torchane.text.JinjaStatement.Target;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs the statements of a template. */
final class JinjaRenderer {

    /** How a body ended. */
    private enum Flow {
        NORMAL,
        BREAK,
        CONTINUE
    }

    private final JinjaLimits limits;
    private final JinjaEvaluator evaluator;

    private JinjaRenderer(JinjaLimits limits) {
        this.limits = limits;
        this.evaluator = new JinjaEvaluator(limits);
    }

    /** Renders a template with these variables over the globals. */
    static String render(
            List<JinjaStatement> template, Map<String, Object> globals, Map<String, ?> variables, JinjaLimits limits) {
        JinjaScope outer = new JinjaScope(null);
        globals.forEach(outer::set);
        variables.forEach((name, value) -> outer.set(name, JinjaValues.of(value)));
        StringBuilder out = new StringBuilder();
        try {
            new JinjaRenderer(limits).run(template, new JinjaScope(outer), out);
        } catch (StackOverflowError e) {
            throw new JinjaError("it is nested too deeply");
        }
        return out.toString();
    }

    private Flow run(List<JinjaStatement> statements, JinjaScope scope, StringBuilder out) {
        for (JinjaStatement statement : statements) {
            limits.step();
            Flow flow;
            try {
                flow = run(statement, scope, out);
            } catch (JinjaError e) {
                throw e.at(statement.line());
            }
            if (flow != Flow.NORMAL) {
                return flow;
            }
        }
        return Flow.NORMAL;
    }

    private Flow run(JinjaStatement statement, JinjaScope scope, StringBuilder out) {
        switch (statement) {
            case JinjaStatement.Text(String text, int line) -> write(text, out);
            case JinjaStatement.Output(var value, int line) ->
                write(JinjaValues.text(evaluator.evaluate(value, scope)), out);
            case JinjaStatement.If(var condition, var then, var otherwise, int line) -> {
                return run(evaluator.truth(condition, scope) ? then : otherwise, scope, out);
            }
            case JinjaStatement.For loop -> loop(loop, evaluator.evaluate(loop.items(), scope), 0, scope, out);
            case JinjaStatement.Set(var target, var value, int line) ->
                assign(target, evaluator.evaluate(value, scope), scope);
            case JinjaStatement.SetBlock(var target, var filter, var body, int line) -> {
                String text = capture(body, new JinjaScope(scope));
                assign(
                        target,
                        filter.map(f -> evaluator.filtered(f, text, scope)).orElse(text),
                        scope);
            }
            case JinjaStatement.With(var targets, var values, var body, int line) -> {
                JinjaScope inner = new JinjaScope(scope);
                for (int i = 0; i < targets.size(); i++) {
                    assign(targets.get(i), evaluator.evaluate(values.get(i), scope), inner);
                }
                return run(body, inner, out);
            }
            case JinjaStatement.Macro macro -> scope.set(macro.name(), macro(macro, scope));
            case JinjaStatement.CallBlock(var call, var caller, int line) -> {
                JinjaScope inner = new JinjaScope(scope);
                inner.set("caller", macro(caller, scope));
                write(JinjaValues.text(evaluator.evaluate(withCaller(call), inner)), out);
            }
            case JinjaStatement.FilterBlock(var filter, var body, int line) -> {
                String text = capture(body, new JinjaScope(scope));
                write(JinjaValues.text(evaluator.filtered(filter, text, scope)), out);
            }
            case JinjaStatement.Group(var body, int line) -> {
                return run(body, new JinjaScope(scope), out);
            }
            case JinjaStatement.Break(int line) -> {
                return Flow.BREAK;
            }
            case JinjaStatement.Continue(int line) -> {
                return Flow.CONTINUE;
            }
        }
        return Flow.NORMAL;
    }

    private void loop(JinjaStatement.For loop, Object value, int depth, JinjaScope scope, StringBuilder out) {
        limits.enter();
        List<Object> items = new ArrayList<>();
        for (Object item : JinjaValues.items(value)) {
            limits.step();
            JinjaScope tested = new JinjaScope(scope);
            assign(loop.target(), item, tested);
            if (loop.condition().isEmpty() || evaluator.truth(loop.condition().get(), tested)) {
                items.add(item);
            }
        }
        JinjaLoop state = new JinjaLoop(items, depth, (inner, level) -> {
            if (!loop.recursive()) {
                throw new JinjaError("the loop is not recursive");
            }
            StringBuilder text = new StringBuilder();
            loop(loop, inner, level, scope, text);
            return text.toString();
        });
        for (int i = 0; i < items.size(); i++) {
            limits.step();
            JinjaScope turn = new JinjaScope(scope);
            state.moveTo(i);
            turn.set("loop", state);
            assign(loop.target(), items.get(i), turn);
            if (run(loop.body(), turn, out) == Flow.BREAK) {
                break;
            }
        }
        if (items.isEmpty()) {
            run(loop.otherwise(), new JinjaScope(scope), out);
        }
        limits.leave();
    }

    private JinjaFunction macro(JinjaStatement.Macro macro, JinjaScope defined) {
        return arguments -> {
            limits.enter();
            JinjaScope scope = new JinjaScope(defined);
            List<JinjaStatement.Parameter> parameters = macro.parameters();
            Map<String, Object> rest = new LinkedHashMap<>(arguments.named());
            for (int i = 0; i < parameters.size(); i++) {
                JinjaStatement.Parameter parameter = parameters.get(i);
                Object value;
                if (arguments.has(i, parameter.name())) {
                    value = arguments.get(i, parameter.name());
                } else if (parameter.defaultValue().isPresent()) {
                    value = evaluator.evaluate(parameter.defaultValue().get(), scope);
                } else {
                    value = new JinjaValues.Undefined(parameter.name());
                }
                scope.set(parameter.name(), value);
                rest.remove(parameter.name());
            }
            if (rest.containsKey("caller")) {
                scope.set("caller", rest.remove("caller"));
            }
            scope.set(
                    "varargs", new JinjaTuple(arguments.from(parameters.size()).positional()));
            scope.set("kwargs", new LinkedHashMap<Object, Object>(rest));
            String text = capture(macro.body(), scope);
            limits.leave();
            return text;
        };
    }

    private static JinjaExpression withCaller(JinjaExpression call) {
        if (!(call instanceof JinjaExpression.Call(var function, var arguments))) {
            throw new JinjaError("a call block needs a call");
        }
        List<JinjaExpression.NamedArgument> named = new ArrayList<>(arguments.named());
        named.add(new JinjaExpression.NamedArgument("caller", new JinjaExpression.Name("caller")));
        return new JinjaExpression.Call(function, new JinjaExpression.Arguments(arguments.positional(), named));
    }

    private void assign(Target target, Object value, JinjaScope scope) {
        switch (target) {
            case Target.Variable(String name) -> scope.set(name, value);
            case Target.NamespaceAttribute(String name, String attribute) -> {
                if (!(scope.get(name) instanceof JinjaValues.Namespace namespace)) {
                    throw new JinjaError("'" + name + "' is not a namespace, its attributes cannot be set");
                }
                JinjaValues.checkAttribute(attribute);
                namespace.attributes().put(attribute, value);
            }
            case Target.Unpack(var targets) -> {
                List<Object> values = JinjaValues.items(value);
                if (values.size() != targets.size()) {
                    throw new JinjaError(values.size() + " values cannot be unpacked into " + targets.size());
                }
                for (int i = 0; i < targets.size(); i++) {
                    assign(targets.get(i), values.get(i), scope);
                }
            }
        }
    }

    private String capture(List<JinjaStatement> body, JinjaScope scope) {
        StringBuilder text = new StringBuilder();
        run(body, scope, text);
        return text.toString();
    }

    private static void write(String text, StringBuilder out) {
        JinjaLimits.output((long) out.length() + text.length());
        out.append(text);
    }
}
