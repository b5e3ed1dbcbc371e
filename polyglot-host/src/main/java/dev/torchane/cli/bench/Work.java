package dev.torchane.cli.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;

/** What is measured. The requests are those of {@code tools/peers/peer.py}. */
enum Work {
    /** Steps of one stream behind 100 tokens. */
    DECODE_1_Q4("decode-1-q4", "tok/s"),
    /** The same with weights of eight bits. */
    DECODE_1_Q8("decode-1-q8", "tok/s"),
    /** Steps of eight streams behind 32 tokens each, all their tokens counted. */
    DECODE_8_Q4("decode-8-q4", "tok/s"),
    /** A prompt of 512 tokens. */
    PREFILL_512_Q4("prefill-512-q4", "tok/s"),
    /** From the start of the process to the first token, for peers from the start of loading. */
    START_Q4("start-q4", "s"),
    /** Steps of one stream behind 4,000 tokens. */
    DECODE_CTX4000_Q4("decode-ctx4000-q4", "tok/s");

    private static final int STREAMS = 8;
    private static final int STREAM_PROMPT = 32;

    private final String id;
    private final String unit;

    Work(String id, String unit) {
        this.id = id;
        this.unit = unit;
    }

    /** Name in tables and files. */
    String id() {
        return id;
    }

    /** {@code tok/s}, or {@code s} where less is better. */
    String unit() {
        return unit;
    }

    boolean isTime() {
        return unit.equals("s");
    }

    /** Ours divided by theirs for rates, the inverse for times: above 1 we are better. */
    double ratio(double ours, double theirs) {
        return isTime() ? theirs / ours : ours / theirs;
    }

    /** What one measurement is worth in this work's unit. */
    double figure(long tokens, double seconds) {
        return isTime() ? seconds : tokens / seconds;
    }

    /**
     * The request that is sent to a worker.
     *
     * @param text ids of a text, at least 4,000
     * @param question ids of the prompt with which a start is measured
     */
    ObjectNode request(int[] text, int[] question) {
        return switch (this) {
            case DECODE_1_Q4, DECODE_1_Q8 -> prompt("decode", text, 100).put("steps", 64);
            case DECODE_8_Q4 -> streams(text).put("steps", 32);
            case PREFILL_512_Q4 -> prompt("prefill", text, 512);
            case START_Q4 -> prompt("start", question, question.length);
            case DECODE_CTX4000_Q4 -> prompt("context", text, 4000).put("steps", 24);
        };
    }

    private static ObjectNode prompt(String work, int[] ids, int count) {
        ObjectNode request = JsonNodeFactory.instance.objectNode().put("work", work);
        Arrays.stream(ids, 0, count).forEach(request.putArray("prompt")::add);
        return request;
    }

    private static ObjectNode streams(int[] ids) {
        ObjectNode request = JsonNodeFactory.instance.objectNode().put("work", "batch");
        var prompts = request.putArray("prompts");
        for (int stream = 0; stream < STREAMS; stream++) {
            Arrays.stream(ids, stream * STREAM_PROMPT, (stream + 1) * STREAM_PROMPT)
                    .forEach(prompts.addArray()::add);
        }
        return request;
    }

    /** The work with an id. */
    static Work of(String id) {
        return Arrays.stream(values())
                .filter(work -> work.id.equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no work is called '" + id + "'; there is "
                        + List.of(values()).stream().map(Work::id).toList()));
    }

    @Override
    public String toString() {
        return id;
    }
}
