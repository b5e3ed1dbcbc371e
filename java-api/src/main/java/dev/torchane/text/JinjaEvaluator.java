package dev.torchane.text;

import dev.torchane.text.JinjaValues.Namespace;
import dev.torchane.text.JinjaValues.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Evaluates expressions. */
final class JinjaEvaluator {

    private final JinjaLimits limits;

    JinjaEvaluator(JinjaLimits limits) {
        this.limits = limits;
    }

    Object evaluate(JinjaExpression expression, JinjaScope scope) {
        limits.step();
        return switch (expression) {
            case JinjaExpression.Constant(Object value) -> value;
            case JinjaExpression.Name(String name) -> scope.get(name);
            case JinjaExpression.ListOf(var items) -> all(items, scope);
            case JinjaExpression.TupleOf(var items) -> new JinjaTuple(all(items, scope));
            case JinjaExpression.Spread spread -> throw new JinjaError("'*' stands only before arguments");
            case JinjaExpression.MapOf(var keys, var values) -> map(keys, values, scope);
            case JinjaExpression.Attribute(var object, String name) -> attribute(evaluate(object, scope), name);
            case JinjaExpression.Item(var object, var key) -> item(evaluate(object, scope), evaluate(key, scope));
            case JinjaExpression.Slice slice -> slice(slice, scope);
            case JinjaExpression.Call(var function, var arguments) -> call(function, arguments, scope);
            case JinjaExpression.Filter filter -> filter(filter, Optional.empty(), scope);
            case JinjaExpression.Test test -> test(test, scope);
            case JinjaExpression.Not(var operand) -> !truth(operand, scope);
            case JinjaExpression.Negate(var operand) -> JinjaArithmetic.negate(evaluate(operand, scope));
            case JinjaExpression.And(var left, var right) -> {
                Object first = evaluate(left, scope);
                yield JinjaValues.truth(first) ? evaluate(right, scope) : first;
            }
            case JinjaExpression.Or(var left, var right) -> {
                Object first = evaluate(left, scope);
                yield JinjaValues.truth(first) ? first : evaluate(right, scope);
            }
            case JinjaExpression.Binary(String operator, var left, var right) ->
                JinjaArithmetic.apply(operator, evaluate(left, scope), evaluate(right, scope));
            case JinjaExpression.Compare(var first, var rest) -> compare(first, rest, scope);
            case JinjaExpression.Conditional(var then, var condition, var otherwise) -> {
                if (truth(condition, scope)) {
                    yield evaluate(then, scope);
                }
                yield otherwise.isPresent() ? evaluate(otherwise.get(), scope) : new Undefined("else");
            }
        };
    }

    boolean truth(JinjaExpression expression, JinjaScope scope) {
        return JinjaValues.truth(evaluate(expression, scope));
    }

    /** Applies a chain of filters that starts without input, as of a set block, to a text. */
    Object filtered(JinjaExpression chain, String text, JinjaScope scope) {
        return switch (chain) {
            case JinjaExpression.Filter filter
            when filter.input().isEmpty() -> filter(filter, Optional.of(text), scope);
            case JinjaExpression.Filter filter -> {
                Object input = filtered(filter.input().get(), text, scope);
                JinjaExpression constant = new JinjaExpression.Constant(input);
                yield filter(
                        new JinjaExpression.Filter(
                                Optional.of(constant), filter.name(), filter.arguments(), filter.line()),
                        Optional.empty(),
                        scope);
            }
            default -> throw new JinjaError("a block can only be filtered");
        };
    }

    JinjaFunction.Arguments arguments(JinjaExpression.Arguments arguments, JinjaScope scope) {
        Map<String, Object> named = new LinkedHashMap<>();
        for (JinjaExpression.NamedArgument argument : arguments.named()) {
            Object value = evaluate(argument.value(), scope);
            if (!argument.name().equals(JinjaExpression.NamedArgument.ALL)) {
                named.put(argument.name(), value);
            } else if (value instanceof Map<?, ?> map) {
                map.forEach((name, item) -> named.put(JinjaValues.string(name, "**"), item));
            } else {
                throw new JinjaError("'**' needs a map, found " + JinjaValues.type(value));
            }
        }
        return new JinjaFunction.Arguments(all(arguments.positional(), scope), named);
    }

    private List<Object> all(List<JinjaExpression> expressions, JinjaScope scope) {
        List<Object> values = new ArrayList<>(expressions.size());
        for (JinjaExpression expression : expressions) {
            if (expression instanceof JinjaExpression.Spread(var items)) {
                values.addAll(JinjaValues.items(evaluate(items, scope)));
            } else {
                values.add(evaluate(expression, scope));
            }
        }
        return values;
    }

    private Map<Object, Object> map(List<JinjaExpression> keys, List<JinjaExpression> values, JinjaScope scope) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keys.size(); i++) {
            map.put(evaluate(keys.get(i), scope), evaluate(values.get(i), scope));
        }
        return map;
    }

    /** {@code object.name}: a method of the value, else an item. */
    private static Object attribute(Object object, String name) {
        return switch (object) {
            case Undefined u -> throw new JinjaError("'" + u.name() + "' is undefined; it has no '" + name + "'");
            case Namespace namespace ->
                namespace.attributes().containsKey(name)
                        ? namespace.attributes().get(name)
                        : new Undefined(name);
            case JinjaLoop loop -> loop.attribute(name);
            case Map<?, ?> map -> {
                Optional<JinjaFunction> method = JinjaMethods.of(object, name);
                yield method.isPresent() ? method.get() : map.containsKey(name) ? map.get(name) : new Undefined(name);
            }
            case null -> new Undefined(name);
            default -> JinjaMethods.of(object, name).map(m -> (Object) m).orElseGet(() -> new Undefined(name));
        };
    }

    /** {@code object[key]}: an item, else, for a string key, an attribute. */
    static Object item(Object object, Object key) {
        switch (object) {
            case Undefined u -> throw new JinjaError("'" + u.name() + "' is undefined; it has no items");
            case Map<?, ?> map
            when map.containsKey(key) -> {
                return map.get(key);
            }
            case List<?> list
            when key instanceof Long index -> {
                long at = index < 0 ? index + list.size() : index;
                return at >= 0 && at < list.size() ? list.get((int) at) : new Undefined("item " + index);
            }
            case String text
            when key instanceof Long index -> {
                int[] points = text.codePoints().toArray();
                long at = index < 0 ? index + points.length : index;
                return at >= 0 && at < points.length
                        ? Character.toString(points[(int) at])
                        : new Undefined("item " + index);
            }
            case null, default -> {
                return key instanceof String name ? attribute(object, name) : new Undefined(JinjaValues.text(key));
            }
        }
    }

    private Object slice(JinjaExpression.Slice slice, JinjaScope scope) {
        Object object = evaluate(slice.object(), scope);
        Object start = slice.start().map(e -> evaluate(e, scope)).orElse(null);
        Object stop = slice.stop().map(e -> evaluate(e, scope)).orElse(null);
        Object step = slice.step().map(e -> evaluate(e, scope)).orElse(null);
        return switch (object) {
            case List<?> list -> JinjaArithmetic.slice(new ArrayList<>(list), start, stop, step);
            case String text -> {
                StringBuilder part = new StringBuilder();
                JinjaArithmetic.slice(JinjaValues.items(text), start, stop, step)
                        .forEach(part::append);
                yield part.toString();
            }
            case null, default -> throw new JinjaError(JinjaValues.type(object) + " cannot be sliced");
        };
    }

    private Object call(JinjaExpression function, JinjaExpression.Arguments arguments, JinjaScope scope) {
        Object callee = evaluate(function, scope);
        if (callee instanceof JinjaFunction callable) {
            return callable.call(arguments(arguments, scope));
        }
        String name = function instanceof JinjaExpression.Attribute attribute ? "'" + attribute.name() + "' of " : "";
        throw new JinjaError(name + JinjaValues.type(callee) + " cannot be called");
    }

    private Object filter(JinjaExpression.Filter filter, Optional<Object> blockText, JinjaScope scope) {
        Object input = blockText.orElseGet(
                () -> filter.input().map(e -> evaluate(e, scope)).orElse(null));
        try {
            return JinjaFilters.apply(filter.name(), input, arguments(filter.arguments(), scope));
        } catch (JinjaError e) {
            throw e.at(filter.line());
        }
    }

    private boolean test(JinjaExpression.Test test, JinjaScope scope) {
        Object input = evaluate(test.input(), scope);
        try {
            return JinjaTests.apply(test.name(), input, arguments(test.arguments(), scope));
        } catch (JinjaError e) {
            throw e.at(test.line());
        }
    }

    private boolean compare(JinjaExpression first, List<JinjaExpression.Comparison> rest, JinjaScope scope) {
        Object left = evaluate(first, scope);
        for (JinjaExpression.Comparison comparison : rest) {
            Object right = evaluate(comparison.operand(), scope);
            if (!JinjaArithmetic.holds(comparison.operator(), left, right)) {
                return false;
            }
            left = right;
        }
        return true;
    }
}
