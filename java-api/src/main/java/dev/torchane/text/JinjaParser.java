package dev.torchane.text;

import dev.torchane.text.JinjaStatement.Target;
import dev.torchane.text.JinjaToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads the statements of a template. */
final class JinjaParser extends JinjaExpressionParser {

    private static final int MAX_NESTING = 100;

    private int nesting;

    private JinjaParser(List<JinjaToken> tokens) {
        super(tokens);
    }

    static List<JinjaStatement> parse(String template) {
        JinjaParser parser = new JinjaParser(JinjaLexer.tokens(template));
        List<JinjaStatement> body = parser.body(Set.of());
        if (parser.current().kind() != Kind.END) {
            throw parser.unexpected("the end of the template");
        }
        return body;
    }

    /** Statements up to a block tag with one of these names, which is left to the caller, its begin consumed. */
    private List<JinjaStatement> body(Set<String> ends) {
        if (++nesting > MAX_NESTING) {
            throw new JinjaError(
                    "blocks are nested deeper than " + MAX_NESTING, current().line(), false);
        }
        List<JinjaStatement> statements = new ArrayList<>();
        while (current().kind() != Kind.END) {
            JinjaToken token = next();
            switch (token.kind()) {
                case DATA -> statements.add(new JinjaStatement.Text(token.text(), token.line()));
                case VARIABLE_BEGIN -> {
                    statements.add(new JinjaStatement.Output(tuple(), token.line()));
                    expect(Kind.VARIABLE_END);
                }
                default -> {
                    if (current().kind() == Kind.NAME && ends.contains(current().text())) {
                        nesting--;
                        return statements;
                    }
                    statements.add(block(token.line()));
                }
            }
        }
        if (!ends.isEmpty()) {
            throw unexpected("one of " + String.join(", ", ends));
        }
        nesting--;
        return statements;
    }

    private List<JinjaStatement> bodyUntil(String end) {
        List<JinjaStatement> body = body(Set.of(end));
        next();
        expect(Kind.BLOCK_END);
        return body;
    }

    private JinjaStatement block(int line) {
        String name = expectName();
        return switch (name) {
            case "for" -> loop(line);
            case "if" -> condition(line);
            case "set" -> assignment(line);
            case "with" -> with(line);
            case "macro" -> macro(line);
            case "call" -> callBlock(line);
            case "filter" -> filterBlock(line);
            case "generation" -> {
                expect(Kind.BLOCK_END);
                yield new JinjaStatement.Group(bodyUntil("endgeneration"), line);
            }
            case "break" -> {
                expect(Kind.BLOCK_END);
                yield new JinjaStatement.Break(line);
            }
            case "continue" -> {
                expect(Kind.BLOCK_END);
                yield new JinjaStatement.Continue(line);
            }
            default -> throw new JinjaError("the tag '" + name + "' is not supported in chat templates", line, false);
        };
    }

    private JinjaStatement loop(int line) {
        Target target = target();
        if (!skipName("in")) {
            throw unexpected("'in'");
        }
        JinjaExpression items = expression(false);
        if (isOperator(",")) {
            List<JinjaExpression> list = new ArrayList<>(List.of(items));
            while (skipOperator(",")) {
                list.add(expression(false));
            }
            items = new JinjaExpression.ListOf(list);
        }
        Optional<JinjaExpression> condition = skipName("if") ? Optional.of(expression()) : Optional.empty();
        boolean recursive = skipName("recursive");
        expect(Kind.BLOCK_END);
        List<JinjaStatement> body = body(Set.of("endfor", "else"));
        List<JinjaStatement> otherwise = List.of();
        if (next().text().equals("else")) {
            expect(Kind.BLOCK_END);
            otherwise = bodyUntil("endfor");
        } else {
            expect(Kind.BLOCK_END);
        }
        return new JinjaStatement.For(target, items, condition, recursive, body, otherwise, line);
    }

    private JinjaStatement condition(int line) {
        JinjaExpression condition = tuple();
        expect(Kind.BLOCK_END);
        List<JinjaStatement> then = body(Set.of("elif", "else", "endif"));
        int nextLine = current().line();
        List<JinjaStatement> otherwise = List.of();
        switch (next().text()) {
            case "elif" -> otherwise = List.of(condition(nextLine));
            case "else" -> {
                expect(Kind.BLOCK_END);
                otherwise = bodyUntil("endif");
            }
            default -> expect(Kind.BLOCK_END);
        }
        return new JinjaStatement.If(condition, then, otherwise, line);
    }

    private JinjaStatement assignment(int line) {
        Target target = target();
        if (skipOperator("=")) {
            JinjaExpression value = tuple();
            expect(Kind.BLOCK_END);
            return new JinjaStatement.Set(target, value, line);
        }
        Optional<JinjaExpression> filter = isOperator("|") ? Optional.of(filterChain(line)) : Optional.empty();
        expect(Kind.BLOCK_END);
        return new JinjaStatement.SetBlock(target, filter, bodyUntil("endset"), line);
    }

    /** {@code | name(…) | name(…)} applied to a block's output: the innermost filter has no input of its own. */
    private JinjaExpression filterChain(int line) {
        expectOperator("|");
        return filterStart(line);
    }

    private JinjaExpression filterStart(int line) {
        String name = expectName();
        JinjaExpression.Arguments arguments = isOperator("(") ? arguments() : JinjaExpression.Arguments.NONE;
        return filters(new JinjaExpression.Filter(Optional.empty(), name, arguments, line));
    }

    private JinjaStatement with(int line) {
        List<Target> targets = new ArrayList<>();
        List<JinjaExpression> values = new ArrayList<>();
        while (current().kind() != Kind.BLOCK_END) {
            targets.add(new Target.Variable(expectName()));
            expectOperator("=");
            values.add(expression());
            skipOperator(",");
        }
        expect(Kind.BLOCK_END);
        return new JinjaStatement.With(targets, values, bodyUntil("endwith"), line);
    }

    private JinjaStatement macro(int line) {
        String name = expectName();
        List<JinjaStatement.Parameter> parameters = parameters();
        expect(Kind.BLOCK_END);
        return new JinjaStatement.Macro(name, parameters, bodyUntil("endmacro"), line);
    }

    private JinjaStatement callBlock(int line) {
        List<JinjaStatement.Parameter> parameters = isOperator("(") ? parameters() : List.of();
        JinjaExpression call = expression();
        expect(Kind.BLOCK_END);
        JinjaStatement.Macro caller = new JinjaStatement.Macro("caller", parameters, bodyUntil("endcall"), line);
        return new JinjaStatement.CallBlock(call, caller, line);
    }

    private JinjaStatement filterBlock(int line) {
        JinjaExpression filter = filterStart(line);
        expect(Kind.BLOCK_END);
        return new JinjaStatement.FilterBlock(filter, bodyUntil("endfilter"), line);
    }

    private List<JinjaStatement.Parameter> parameters() {
        expectOperator("(");
        List<JinjaStatement.Parameter> parameters = new ArrayList<>();
        while (!skipOperator(")")) {
            String name = expectName();
            Optional<JinjaExpression> value = skipOperator("=") ? Optional.of(expression()) : Optional.empty();
            parameters.add(new JinjaStatement.Parameter(name, value));
            if (!isOperator(")")) {
                expectOperator(",");
            }
        }
        return parameters;
    }

    private Target target() {
        Target first = singleTarget();
        if (!isOperator(",")) {
            return first;
        }
        List<Target> targets = new ArrayList<>(List.of(first));
        while (skipOperator(",")) {
            targets.add(singleTarget());
        }
        return new Target.Unpack(targets);
    }

    private Target singleTarget() {
        if (skipOperator("(")) {
            Target inner = target();
            expectOperator(")");
            return inner instanceof Target.Unpack ? inner : new Target.Unpack(List.of(inner));
        }
        String name = expectName();
        return skipOperator(".") ? new Target.NamespaceAttribute(name, expectName()) : new Target.Variable(name);
    }
}
