package dev.torchane.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Divides the text that a model writes into parts, while it is written. How the text is cut into pieces changes nothing but
 * when a part is known: joined, the parts are those of the whole text. What cannot be told yet is held back: the beginning
 * of what may become a stop string or another mark, white space beside marks, a tool call until it is complete.
 *
 * <p>A stop string ends the output; it is not part of it, nor is anything behind it. Of several, the one that is complete
 * first is the one that counts, and the longest of those that end together. A call that cannot be read stays text.
 *
 * <p>Belongs to one stream and one thread.
 */
public final class OutputParser {

    private final MarkScanner stops;
    private final ThinkingSplitter thinking;
    private final ToolCallScanner toolCalls;
    private List<OutputPart> parts = new ArrayList<>();
    private String halfCharacter = "";
    private boolean stopped;
    private boolean finished;

    OutputParser(OutputFormat format) {
        stops = format.stops().isEmpty() ? null : new MarkScanner(format.stops());
        toolCalls = format.toolCalls()
                .map(known -> new ToolCallScanner(known, this::text, this::call))
                .orElse(null);
        thinking = format.thinking()
                .map(block -> new ThinkingSplitter(
                        block, block.separated() ? this::thought : this::text, this::behindThinking))
                .orElse(null);
    }

    /**
     * Takes the next piece of text.
     *
     * @return the parts that have become certain, often one, sometimes none
     * @throws IllegalStateException after {@link #finish}
     */
    public List<OutputPart> append(String piece) {
        TextArguments.given(piece, "piece");
        if (finished) {
            throw new IllegalStateException("the output is finished");
        }
        String whole = halfCharacter + piece;
        boolean half = !whole.isEmpty() && Character.isHighSurrogate(whole.charAt(whole.length() - 1));
        halfCharacter = half ? whole.substring(whole.length() - 1) : "";
        read(half ? whole.substring(0, whole.length() - 1) : whole);
        return take();
    }

    /** Whether a stop string has ended the output. */
    public boolean stopped() {
        return stopped;
    }

    /** Ends the output: returns what was held back. Idempotent. */
    public List<OutputPart> finish() {
        if (!finished) {
            finished = true;
            read(halfCharacter);
            if (stops != null && !stopped) {
                behindStops(stops.finish());
            }
            if (thinking != null) {
                thinking.finish();
            }
            if (toolCalls != null) {
                toolCalls.finish();
            }
        }
        return take();
    }

    private void read(String piece) {
        if (stopped) {
            return;
        }
        if (stops == null) {
            behindStops(piece);
            return;
        }
        StringBuilder out = new StringBuilder();
        stopped = stops.scan(piece, 0, out) >= 0;
        behindStops(out.toString());
    }

    private void behindStops(String piece) {
        if (thinking != null) {
            thinking.append(piece);
        } else {
            behindThinking(piece);
        }
    }

    private void behindThinking(String piece) {
        if (toolCalls != null) {
            toolCalls.append(piece);
        } else {
            text(piece);
        }
    }

    private void text(String piece) {
        if (!piece.isEmpty()) {
            parts.add(new OutputPart.Text(piece));
        }
    }

    private void thought(String piece) {
        if (!piece.isEmpty()) {
            parts.add(new OutputPart.Thinking(piece));
        }
    }

    private void call(OutputPart.ToolCall call) {
        parts.add(call);
    }

    private List<OutputPart> take() {
        List<OutputPart> taken = OutputFormat.joined(parts);
        parts = new ArrayList<>();
        return taken;
    }
}
