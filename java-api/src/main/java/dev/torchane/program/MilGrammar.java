package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;

/** What every part of MIL's grammar is made of: names, punctuation, types. */
abstract sealed class MilGrammar permits MilOutlineParser, MilFunctionParser, MilLiteralParser {

    final MilLexer lexer;

    MilGrammar(MilLexer lexer) {
        this.lexer = lexer;
    }

    final TensorType type() {
        int offset = lexer.offset();
        return type(offset, name("a type"));
    }

    final TensorType type(int offset, String word) {
        if (!word.equals("tensor")) {
            return TensorType.of(dtype(offset, word));
        }
        punctuation('<');
        int elementOffset = lexer.offset();
        DType dtype = dtype(elementOffset, name("an element type"));
        punctuation(',');
        punctuation('[');
        List<Integer> shape = new ArrayList<>();
        while (lexer.kind() != ']') {
            if (lexer.kind() != MilLexer.NUMBER) {
                throw lexer.expected("the size of an axis (shapes are static)");
            }
            double size = lexer.number();
            if (size != (int) size || size < 0) {
                throw lexer.expected("the size of an axis, 0 to 2147483647");
            }
            shape.add((int) size);
            lexer.advance();
            separator(']');
        }
        lexer.advance();
        punctuation('>');
        if (shape.size() > 16) {
            throw lexer.error(offset, "expected a tensor of at most 16 axes, found " + shape.size());
        }
        return new TensorType(dtype, shape);
    }

    private DType dtype(int offset, String word) {
        try {
            return DType.ofMil(word);
        } catch (IllegalArgumentException e) {
            throw lexer.error(offset, "expected a type, found '" + word + "'");
        }
    }

    final String name(String what) {
        return token(MilLexer.NAME, what);
    }

    final String token(int kind, String what) {
        if (lexer.kind() != kind) {
            throw lexer.expected(what);
        }
        String text = lexer.text();
        lexer.advance();
        return text;
    }

    final void keyword(String word) {
        if (lexer.kind() != MilLexer.NAME || !lexer.text().equals(word)) {
            throw lexer.expected("'" + word + "'");
        }
        lexer.advance();
    }

    final void require(int character) {
        if (lexer.kind() != character) {
            throw lexer.expected("'" + (char) character + "'");
        }
    }

    final void punctuation(int character) {
        require(character);
        lexer.advance();
    }

    /** A comma, or the closing bracket that stays current. */
    final void separator(int close) {
        if (lexer.kind() == ',') {
            lexer.advance();
            if (lexer.kind() == close) {
                throw lexer.expected("another element after the comma");
            }
        } else if (lexer.kind() != close) {
            throw lexer.expected("',' or '" + (char) close + "'");
        }
    }

    final String string() {
        if (lexer.kind() != MilLexer.STRING) {
            throw lexer.expected("a string");
        }
        String text = lexer.string();
        lexer.advance();
        return text;
    }

    /** The results behind a function's body. */
    final List<String> results() {
        if (lexer.kind() != MilLexer.ARROW) {
            throw lexer.expected("'->' and the results");
        }
        lexer.advance();
        punctuation('(');
        List<String> names = new ArrayList<>();
        while (lexer.kind() != ')') {
            names.add(name("the name of a result"));
            separator(')');
        }
        lexer.advance();
        punctuation(';');
        return names;
    }
}
