package dev.torchane.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What to look for in the text that a model writes.
 *
 * @param stops strings that end the output; they look at the text as it is written, thinking and calls included
 * @param thinking the block in which the model thinks, if it has one
 * @param toolCalls how the model writes tool calls; empty when none are looked for
 */
public record OutputFormat(List<String> stops, Optional<ThinkingBlock> thinking, Optional<ToolCallFormat> toolCalls) {

    private static final OutputFormat PLAIN = new OutputFormat(List.of(), Optional.empty(), Optional.empty());

    /** @throws IllegalArgumentException when a stop string is empty, or begins or ends in half a character */
    public OutputFormat {
        for (int i = 0; i < TextArguments.given(stops, "stops").size(); i++) {
            String stop = TextArguments.given(stops.get(i), "stop string " + i);
            if (stop.isEmpty()) {
                throw new IllegalArgumentException("stop string " + i + " is empty: it would end every output at once");
            }
            if (!stop.equals(Tokenizer.withoutLoneSurrogates(stop))) {
                throw new IllegalArgumentException("stop string " + i + " has half a surrogate pair");
            }
        }
        stops = stops.stream().distinct().toList();
        TextArguments.given(thinking, "thinking");
        TextArguments.given(toolCalls, "toolCalls");
    }

    /** Text and nothing else. */
    public static OutputFormat plain() {
        return PLAIN;
    }

    /** Ends the output before the first of these strings. */
    public OutputFormat withStops(List<String> strings) {
        return new OutputFormat(strings, thinking, toolCalls);
    }

    public OutputFormat withThinking(ThinkingBlock block) {
        return new OutputFormat(stops, Optional.of(block), toolCalls);
    }

    public OutputFormat withToolCalls(ToolCallFormat format) {
        return new OutputFormat(stops, thinking, Optional.of(format));
    }

    /** A parser for one output. */
    public OutputParser newParser() {
        return new OutputParser(this);
    }

    /** The parts of a whole output; pieces of one kind that follow each other are joined. */
    public List<OutputPart> parse(String output) {
        OutputParser parser = newParser();
        List<OutputPart> parts = new ArrayList<>(parser.append(TextArguments.given(output, "output")));
        parts.addAll(parser.finish());
        return joined(parts);
    }

    /** Joins pieces of one kind that follow each other. */
    public static List<OutputPart> joined(List<OutputPart> parts) {
        List<OutputPart> joined = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            OutputPart part = parts.get(i);
            boolean goesOn =
                    i + 1 < parts.size() && part.getClass() == parts.get(i + 1).getClass();
            switch (part) {
                case OutputPart.ToolCall call -> joined.add(call);
                case OutputPart.Text(String piece) -> {
                    text.append(piece);
                    if (!goesOn) {
                        joined.add(new OutputPart.Text(text.toString()));
                        text.setLength(0);
                    }
                }
                case OutputPart.Thinking(String piece) -> {
                    text.append(piece);
                    if (!goesOn) {
                        joined.add(new OutputPart.Thinking(text.toString()));
                        text.setLength(0);
                    }
                }
            }
        }
        return List.copyOf(joined);
    }

    /** Everything that is looked for: a special token that stands in one of these has to reach the parser. */
    List<String> marks() {
        List<String> marks = new ArrayList<>(stops);
        thinking.ifPresent(block -> marks.addAll(List.of(block.open(), block.close())));
        toolCalls.ifPresent(format -> marks.addAll(format.marks()));
        return marks;
    }
}
