package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;

/** Reads what stands in the parentheses behind a type: a scalar, nested lists, or {@code BLOBFILE(…)}. */
final class MilLiteralParser extends MilGrammar {

    private final List<Double> numbers = new ArrayList<>();
    private final List<String> texts = new ArrayList<>();

    MilLiteralParser(MilLexer lexer) {
        super(lexer);
    }

    /** Reads a literal whose type was read. */
    Literal read(int offset, TensorType type) {
        punctuation('(');
        Literal literal;
        if (lexer.kind() == MilLexer.NAME && lexer.text().equals("BLOBFILE")) {
            literal = blob(type);
        } else {
            elements(type.dtype(), type.rank());
            literal = literal(offset, type);
        }
        punctuation(')');
        return literal;
    }

    private Literal literal(int offset, TensorType type) {
        if (type.dtype() == DType.STRING) {
            if (type.rank() > 1 || texts.size() != (type.rank() == 0 ? 1 : type.axis(0))) {
                throw lexer.error(offset, "expected the strings of a " + type + ", found " + texts.size());
            }
            return type.rank() == 0 ? new Literal.Text(texts.getFirst()) : new Literal.Texts(texts);
        }
        if (type.dtype() == DType.BOOL && type.rank() == 0 && numbers.size() == 1) {
            return new Literal.Bool(numbers.getFirst() != 0);
        }
        try {
            return new Literal.Numbers(type, numbers);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw lexer.error(offset, "expected the elements of a " + type + ": " + e.getMessage());
        }
    }

    /** One element, or a list of them at most {@code depth} deep. */
    private void elements(DType dtype, int depth) {
        if (lexer.kind() == '[') {
            if (depth == 0) {
                throw lexer.expected("one element");
            }
            lexer.advance();
            while (lexer.kind() != ']') {
                elements(dtype, depth - 1);
                separator(']');
            }
            lexer.advance();
            return;
        }
        element(dtype);
    }

    private void element(DType dtype) {
        switch (lexer.kind()) {
            case MilLexer.STRING -> {
                if (dtype != DType.STRING) {
                    throw lexer.expected("an element of " + dtype.mil());
                }
                texts.add(lexer.string());
            }
            case MilLexer.NUMBER -> {
                if (dtype == DType.STRING) {
                    throw lexer.expected("a string");
                }
                numbers.add(lexer.number());
            }
            case MilLexer.NAME -> {
                if (named(dtype)) {
                    return;
                }
            }
            default -> throw lexer.expected("an element of " + dtype.mil());
        }
        lexer.advance();
    }

    /** A word: a truth value, a special number, or an element with its type written out; answers whether it was the last. */
    private boolean named(DType dtype) {
        String word = lexer.text();
        switch (word) {
            case "true", "false" -> {
                if (dtype != DType.BOOL) {
                    throw lexer.expected("an element of " + dtype.mil());
                }
                numbers.add(word.equals("true") ? 1.0 : 0.0);
            }
            case "inf", "infinity" -> numbers.add(Double.POSITIVE_INFINITY);
            case "nan" -> numbers.add(Double.NaN);
            default -> {
                if (!word.equals(dtype.mil())) {
                    throw lexer.expected("an element of " + dtype.mil());
                }
                lexer.advance();
                punctuation('(');
                if (lexer.kind() == MilLexer.NAME && lexer.text().equals(word)) {
                    throw lexer.expected("an element of " + dtype.mil());
                }
                element(dtype);
                punctuation(')');
                return true;
            }
        }
        return false;
    }

    private Literal blob(TensorType type) {
        lexer.advance();
        punctuation('(');
        keyword("path");
        punctuation('=');
        keyword("string");
        punctuation('(');
        if (lexer.kind() != MilLexer.STRING) {
            throw lexer.expected("the path of a weight file");
        }
        String path = lexer.string();
        lexer.advance();
        punctuation(')');
        punctuation(',');
        keyword("offset");
        punctuation('=');
        keyword("uint64");
        punctuation('(');
        if (lexer.kind() != MilLexer.NUMBER) {
            throw lexer.expected("the offset of a blob");
        }
        long offset;
        try {
            offset = Long.parseLong(lexer.text());
        } catch (NumberFormatException e) {
            throw lexer.expected("the offset of a blob");
        }
        if (offset < 0) {
            throw lexer.expected("an offset of at least 0");
        }
        lexer.advance();
        punctuation(')');
        punctuation(')');
        return new Literal.Blob(type, path, offset);
    }
}
