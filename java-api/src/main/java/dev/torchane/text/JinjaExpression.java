package dev.torchane.text;

import java.util.List;
import java.util.Optional;

/** An expression of a template. */
sealed interface JinjaExpression {

    record Constant(Object value) implements JinjaExpression {}

    record Name(String name) implements JinjaExpression {}

    record ListOf(List<JinjaExpression> items) implements JinjaExpression {}

    record TupleOf(List<JinjaExpression> items) implements JinjaExpression {}

    /** {@code *items} among the arguments of a call. */
    record Spread(JinjaExpression items) implements JinjaExpression {}

    record MapOf(List<JinjaExpression> keys, List<JinjaExpression> values) implements JinjaExpression {}

    record Attribute(JinjaExpression object, String name) implements JinjaExpression {}

    record Item(JinjaExpression object, JinjaExpression key) implements JinjaExpression {}

    record Slice(
            JinjaExpression object,
            Optional<JinjaExpression> start,
            Optional<JinjaExpression> stop,
            Optional<JinjaExpression> step)
            implements JinjaExpression {}

    record Call(JinjaExpression function, Arguments arguments) implements JinjaExpression {}

    record Filter(Optional<JinjaExpression> input, String name, Arguments arguments, int line)
            implements JinjaExpression {}

    record Test(JinjaExpression input, String name, Arguments arguments, int line) implements JinjaExpression {}

    record Not(JinjaExpression operand) implements JinjaExpression {}

    record Negate(JinjaExpression operand) implements JinjaExpression {}

    record And(JinjaExpression left, JinjaExpression right) implements JinjaExpression {}

    record Or(JinjaExpression left, JinjaExpression right) implements JinjaExpression {}

    record Binary(String operator, JinjaExpression left, JinjaExpression right) implements JinjaExpression {}

    record Compare(JinjaExpression first, List<Comparison> rest) implements JinjaExpression {}

    record Conditional(JinjaExpression then, JinjaExpression condition, Optional<JinjaExpression> otherwise)
            implements JinjaExpression {}

    /** One step of a chained comparison. */
    record Comparison(String operator, JinjaExpression operand) {}

    /** Arguments of a call. */
    record Arguments(List<JinjaExpression> positional, List<NamedArgument> named) {
        static final Arguments NONE = new Arguments(List.of(), List.of());
    }

    /** {@code name=value}, or {@code **value} under the name {@link #ALL}. */
    record NamedArgument(String name, JinjaExpression value) {
        static final String ALL = "**";
    }
}
