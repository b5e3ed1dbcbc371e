package dev.torchane.text;

import dev.torchane.text.JinjaExpression.Arguments;
import dev.torchane.text.JinjaToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads expressions, with Jinja's precedence: if, or, and, not, comparisons, + -, ~, * / // %, **, unary. */
class JinjaExpressionParser {

    private static final int MAX_DEPTH = 200;
    private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
    private static final Set<String> AFTER_TEST = Set.of("else", "or", "and");

    private final List<JinjaToken> tokens;
    private int position;
    private int depth;

    JinjaExpressionParser(List<JinjaToken> tokens) {
        this.tokens = tokens;
    }

    final JinjaToken current() {
        return tokens.get(position);
    }

    final JinjaToken peek() {
        return tokens.get(Math.min(position + 1, tokens.size() - 1));
    }

    final JinjaToken next() {
        JinjaToken token = current();
        if (token.kind() != Kind.END) {
            position++;
        }
        return token;
    }

    final boolean isOperator(String text) {
        return current().is(Kind.OPERATOR, text);
    }

    final boolean isName(String text) {
        return current().is(Kind.NAME, text);
    }

    final boolean skipOperator(String text) {
        boolean found = isOperator(text);
        if (found) {
            next();
        }
        return found;
    }

    final boolean skipName(String text) {
        boolean found = isName(text);
        if (found) {
            next();
        }
        return found;
    }

    final void expectOperator(String text) {
        if (!skipOperator(text)) {
            throw unexpected("'" + text + "'");
        }
    }

    final void expect(Kind kind) {
        if (next().kind() != kind) {
            position--;
            throw unexpected(kind.toString());
        }
    }

    final String expectName() {
        if (current().kind() != Kind.NAME) {
            throw unexpected("a name");
        }
        return next().text();
    }

    final JinjaError unexpected(String expected) {
        JinjaToken found = current();
        String text = found.text().isEmpty() ? found.kind().toString() : "'" + found.text() + "'";
        return new JinjaError("found " + text + ", expected " + expected, found.line(), false);
    }

    /** Expressions separated by commas make a tuple. */
    final JinjaExpression tuple() {
        JinjaExpression first = expression();
        if (!isOperator(",")) {
            return first;
        }
        List<JinjaExpression> items = new ArrayList<>(List.of(first));
        while (skipOperator(",")) {
            if (endsTuple()) {
                break;
            }
            items.add(expression());
        }
        return new JinjaExpression.TupleOf(items);
    }

    private boolean endsTuple() {
        Kind kind = current().kind();
        return kind == Kind.BLOCK_END || kind == Kind.VARIABLE_END || isOperator(")") || isOperator("=");
    }

    final JinjaExpression expression() {
        return expression(true);
    }

    /**
     * @param conditional whether {@code a if b else c} belongs to the expression; not after {@code for x in}
     */
    final JinjaExpression expression(boolean conditional) {
        if (++depth > MAX_DEPTH) {
            throw new JinjaError(
                    "expressions are nested deeper than " + MAX_DEPTH, current().line(), false);
        }
        JinjaExpression value = or();
        while (conditional && skipName("if")) {
            JinjaExpression condition = or();
            Optional<JinjaExpression> otherwise = skipName("else") ? Optional.of(expression()) : Optional.empty();
            value = new JinjaExpression.Conditional(value, condition, otherwise);
        }
        depth--;
        return value;
    }

    private JinjaExpression or() {
        JinjaExpression left = and();
        while (skipName("or")) {
            left = new JinjaExpression.Or(left, and());
        }
        return left;
    }

    private JinjaExpression and() {
        JinjaExpression left = not();
        while (skipName("and")) {
            left = new JinjaExpression.And(left, not());
        }
        return left;
    }

    private JinjaExpression not() {
        boolean negated = false;
        boolean any = false;
        while (skipName("not")) {
            negated = !negated;
            any = true;
        }
        JinjaExpression value = comparison();
        if (any && !negated) {
            return new JinjaExpression.Not(new JinjaExpression.Not(value));
        }
        return negated ? new JinjaExpression.Not(value) : value;
    }

    private JinjaExpression comparison() {
        JinjaExpression first = sum();
        List<JinjaExpression.Comparison> rest = new ArrayList<>();
        while (true) {
            if (current().kind() == Kind.OPERATOR
                    && COMPARISONS.contains(current().text())) {
                rest.add(new JinjaExpression.Comparison(next().text(), sum()));
            } else if (skipName("in")) {
                rest.add(new JinjaExpression.Comparison("in", sum()));
            } else if (isName("not") && peek().is(Kind.NAME, "in")) {
                next();
                next();
                rest.add(new JinjaExpression.Comparison("not in", sum()));
            } else {
                return rest.isEmpty() ? first : new JinjaExpression.Compare(first, rest);
            }
        }
    }

    private JinjaExpression sum() {
        JinjaExpression left = concatenation();
        while (isOperator("+") || isOperator("-")) {
            left = new JinjaExpression.Binary(next().text(), left, concatenation());
        }
        return left;
    }

    private JinjaExpression concatenation() {
        JinjaExpression left = product();
        while (skipOperator("~")) {
            left = new JinjaExpression.Binary("~", left, product());
        }
        return left;
    }

    private JinjaExpression product() {
        JinjaExpression left = power();
        while (isOperator("*") || isOperator("/") || isOperator("//") || isOperator("%")) {
            left = new JinjaExpression.Binary(next().text(), left, power());
        }
        return left;
    }

    private JinjaExpression power() {
        JinjaExpression left = unary(true);
        while (skipOperator("**")) {
            left = new JinjaExpression.Binary("**", left, unary(true));
        }
        return left;
    }

    private JinjaExpression unary(boolean withFilters) {
        JinjaExpression value;
        int signs = 0;
        boolean negative = false;
        while (isOperator("-") || isOperator("+")) {
            negative ^= next().text().equals("-");
            signs++;
        }
        value = postfix(primary());
        if (signs > 0 && negative) {
            value = new JinjaExpression.Negate(value);
        }
        return withFilters ? filters(value) : value;
    }

    private JinjaExpression primary() {
        JinjaToken token = current();
        switch (token.kind()) {
            case NAME -> {
                next();
                return switch (token.text()) {
                    case "true", "True" -> new JinjaExpression.Constant(true);
                    case "false", "False" -> new JinjaExpression.Constant(false);
                    case "none", "None" -> new JinjaExpression.Constant(null);
                    default -> new JinjaExpression.Name(token.text());
                };
            }
            case STRING -> {
                StringBuilder text = new StringBuilder();
                while (current().kind() == Kind.STRING) {
                    text.append(next().text());
                }
                return new JinjaExpression.Constant(text.toString());
            }
            case INTEGER -> {
                next();
                try {
                    return new JinjaExpression.Constant(Long.valueOf(token.text()));
                } catch (NumberFormatException e) {
                    throw new JinjaError("the number " + token.text() + " is too large", token.line(), false);
                }
            }
            case FLOAT -> {
                next();
                return new JinjaExpression.Constant(Double.valueOf(token.text()));
            }
            default -> {
                return bracketed();
            }
        }
    }

    private JinjaExpression bracketed() {
        if (skipOperator("(")) {
            if (skipOperator(")")) {
                return new JinjaExpression.TupleOf(List.of());
            }
            JinjaExpression value = tuple();
            expectOperator(")");
            return value;
        }
        if (skipOperator("[")) {
            List<JinjaExpression> items = new ArrayList<>();
            while (!skipOperator("]")) {
                items.add(expression());
                if (!isOperator("]")) {
                    expectOperator(",");
                }
            }
            return new JinjaExpression.ListOf(items);
        }
        if (skipOperator("{")) {
            List<JinjaExpression> keys = new ArrayList<>();
            List<JinjaExpression> values = new ArrayList<>();
            while (!skipOperator("}")) {
                keys.add(expression());
                expectOperator(":");
                values.add(expression());
                if (!isOperator("}")) {
                    expectOperator(",");
                }
            }
            return new JinjaExpression.MapOf(keys, values);
        }
        throw unexpected("a value");
    }

    private JinjaExpression postfix(JinjaExpression start) {
        JinjaExpression value = start;
        while (true) {
            if (skipOperator(".")) {
                JinjaToken token = next();
                value = switch (token.kind()) {
                    case NAME -> new JinjaExpression.Attribute(value, token.text());
                    case INTEGER ->
                        new JinjaExpression.Item(value, new JinjaExpression.Constant(Long.valueOf(token.text())));
                    default -> throw new JinjaError("expected a name after '.'", token.line(), false);
                };
            } else if (skipOperator("[")) {
                value = subscript(value);
            } else if (isOperator("(")) {
                value = new JinjaExpression.Call(value, arguments());
            } else {
                return value;
            }
        }
    }

    private JinjaExpression subscript(JinjaExpression object) {
        Optional<JinjaExpression> start = isOperator(":") ? Optional.empty() : Optional.of(expression());
        if (skipOperator("]")) {
            return new JinjaExpression.Item(object, start.orElseThrow());
        }
        expectOperator(":");
        Optional<JinjaExpression> stop =
                isOperator(":") || isOperator("]") ? Optional.empty() : Optional.of(expression());
        Optional<JinjaExpression> step = Optional.empty();
        if (skipOperator(":") && !isOperator("]")) {
            step = Optional.of(expression());
        }
        expectOperator("]");
        return new JinjaExpression.Slice(object, start, stop, step);
    }

    final JinjaExpression filters(JinjaExpression start) {
        JinjaExpression value = start;
        while (true) {
            int line = current().line();
            if (isOperator("|")) {
                next();
                String name = expectName();
                Arguments arguments = isOperator("(") ? arguments() : Arguments.NONE;
                value = new JinjaExpression.Filter(Optional.of(value), name, arguments, line);
            } else if (skipName("is")) {
                value = test(value, line);
            } else if (isOperator("(")) {
                value = new JinjaExpression.Call(value, arguments());
            } else {
                return value;
            }
        }
    }

    private JinjaExpression test(JinjaExpression input, int line) {
        boolean negated = skipName("not");
        String name = expectName();
        Arguments arguments = Arguments.NONE;
        Kind kind = current().kind();
        boolean literal = kind == Kind.STRING || kind == Kind.INTEGER || kind == Kind.FLOAT;
        boolean nameArgument =
                kind == Kind.NAME && !AFTER_TEST.contains(current().text()) && !isName("if");
        if (isOperator("(")) {
            arguments = arguments();
        } else if (literal || nameArgument && !isName("is") || isOperator("[") || isOperator("{")) {
            arguments = new Arguments(List.of(postfix(primary())), List.of());
        }
        JinjaExpression test = new JinjaExpression.Test(input, name, arguments, line);
        return negated ? new JinjaExpression.Not(test) : test;
    }

    final Arguments arguments() {
        expectOperator("(");
        List<JinjaExpression> positional = new ArrayList<>();
        List<JinjaExpression.NamedArgument> named = new ArrayList<>();
        while (!skipOperator(")")) {
            if (skipOperator("**")) {
                named.add(new JinjaExpression.NamedArgument(JinjaExpression.NamedArgument.ALL, expression()));
            } else if (skipOperator("*")) {
                positional.add(new JinjaExpression.Spread(expression()));
            } else if (current().kind() == Kind.NAME && peek().is(Kind.OPERATOR, "=")) {
                String name = next().text();
                next();
                named.add(new JinjaExpression.NamedArgument(name, expression()));
            } else if (!named.isEmpty()) {
                throw unexpected("a named argument");
            } else {
                positional.add(expression());
            }
            if (!isOperator(")")) {
                expectOperator(",");
            }
        }
        return new Arguments(positional, named);
    }
}
