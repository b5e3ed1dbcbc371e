package dev.torchane.program;

import java.util.LinkedHashMap;
import java.util.Map;

/** Reads what stands around the functions of a program, and where each function begins. */
final class MilOutlineParser extends MilGrammar {

    MilOutlineParser(MilLexer lexer) {
        super(lexer);
    }

    /** The frame of a program: what stands around the functions, and where each function begins. */
    record Outline(String version, Map<String, String> buildInfo, Map<String, Integer> functions) {}

    /** Reads the frame, skipping the functions' bodies. */
    Outline outline() {
        keyword("program");
        punctuation('(');
        String version = token(MilLexer.NUMBER, "the version of the program");
        punctuation(')');
        Map<String, String> buildInfo = lexer.kind() == '[' ? buildInfo() : Map.of();
        punctuation('{');
        Map<String, Integer> functions = new LinkedHashMap<>();
        while (lexer.kind() != '}') {
            int offset = lexer.offset();
            keyword("func");
            int nameOffset = lexer.offset();
            String name = name("the name of a function");
            if (functions.putIfAbsent(name, offset) != null) {
                throw lexer.error(
                        nameOffset, "expected another name than '" + name + "', which a function has already");
            }
            skipFunction();
        }
        lexer.advance();
        if (lexer.kind() != MilLexer.END) {
            throw lexer.expected("the end of the text");
        }
        return new Outline(version, buildInfo, functions);
    }

    private void skipFunction() {
        require('<');
        lexer.skipBalanced();
        require('(');
        lexer.skipBalanced();
        if (lexer.kind() == '[') {
            lexer.skipBalanced();
        }
        require('{');
        lexer.skipBlock();
        results();
    }

    private Map<String, String> buildInfo() {
        Map<String, String> pairs = new LinkedHashMap<>();
        punctuation('[');
        while (lexer.kind() != ']') {
            boolean wanted = name("an attribute").equals("buildInfo");
            punctuation('=');
            name("a type");
            if (lexer.kind() == '<') {
                lexer.skipBalanced();
            }
            require('(');
            if (wanted) {
                pairs(pairs);
            } else {
                lexer.skipBalanced();
            }
            separator(']');
        }
        lexer.advance();
        return pairs;
    }

    private void pairs(Map<String, String> pairs) {
        punctuation('(');
        punctuation('{');
        while (lexer.kind() != '}') {
            punctuation('{');
            String key = string();
            punctuation(',');
            pairs.put(key, string());
            punctuation('}');
            separator('}');
        }
        lexer.advance();
        punctuation(')');
    }
}
