package dev.torchane.text;

import java.util.List;
import java.util.Optional;

/** A part of a template that writes output or changes variables. */
sealed interface JinjaStatement {

    int line();

    record Text(String text, int line) implements JinjaStatement {}

    record Output(JinjaExpression value, int line) implements JinjaStatement {}

    record For(
            Target target,
            JinjaExpression items,
            Optional<JinjaExpression> condition,
            boolean recursive,
            List<JinjaStatement> body,
            List<JinjaStatement> otherwise,
            int line)
            implements JinjaStatement {}

    record If(JinjaExpression condition, List<JinjaStatement> then, List<JinjaStatement> otherwise, int line)
            implements JinjaStatement {}

    record Set(Target target, JinjaExpression value, int line) implements JinjaStatement {}

    record SetBlock(Target target, Optional<JinjaExpression> filter, List<JinjaStatement> body, int line)
            implements JinjaStatement {}

    record With(List<Target> targets, List<JinjaExpression> values, List<JinjaStatement> body, int line)
            implements JinjaStatement {}

    record Macro(String name, List<Parameter> parameters, List<JinjaStatement> body, int line)
            implements JinjaStatement {}

    record CallBlock(JinjaExpression call, Macro caller, int line) implements JinjaStatement {}

    record FilterBlock(JinjaExpression filter, List<JinjaStatement> body, int line) implements JinjaStatement {}

    /** A block that only groups: {@code generation}. */
    record Group(List<JinjaStatement> body, int line) implements JinjaStatement {}

    record Break(int line) implements JinjaStatement {}

    record Continue(int line) implements JinjaStatement {}

    /** What is assigned to. */
    sealed interface Target {

        record Variable(String name) implements Target {}

        record NamespaceAttribute(String namespace, String attribute) implements Target {}

        record Unpack(List<Target> targets) implements Target {}
    }

    /** A macro's parameter. */
    record Parameter(String name, Optional<JinjaExpression> defaultValue) {}
}
