package dev.torchane.program;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * MIL text whose functions are read when they are asked for: the frame costs one pass over the bytes, and a program of
 * ten functions of which a run uses two costs two. Safe for use by several threads.
 */
public final class MilDocument {

    private final String source;
    private final byte[] text;
    private final MilOutlineParser.Outline outline;
    private final Map<String, Function> functions = new HashMap<>();

    /**
     * Reads the frame of a program.
     *
     * @param source how errors name the text, such as a file's path
     * @param text UTF-8; not copied
     * @throws MilSyntaxException when the frame is malformed
     */
    public MilDocument(String source, byte[] text) {
        this.source = source;
        this.text = text;
        this.outline = new MilOutlineParser(new MilLexer(source, text)).outline();
    }

    /** Reads the frame of a program from a string. */
    public static MilDocument of(String text) {
        return new MilDocument("program", text.getBytes(StandardCharsets.UTF_8));
    }

    /** Version of the format. */
    public String version() {
        return outline.version();
    }

    /** Free pairs of the producer. */
    public Map<String, String> buildInfo() {
        return outline.buildInfo();
    }

    /** The functions' names in the order of the text. */
    public List<String> functionNames() {
        return List.copyOf(outline.functions().keySet());
    }

    /**
     * One function, read at the first call.
     *
     * @throws IllegalArgumentException when there is none of that name; the message lists the names
     * @throws MilSyntaxException when its text is malformed
     */
    public synchronized Function function(String name) {
        int offset = offset(name);
        return functions.computeIfAbsent(name, key -> parser(Map.of()).read(offset));
    }

    /**
     * One function, its inputs of open shape having chosen shapes; others have their default. Read at each call.
     *
     * @param shapes by the input's name
     * @throws MilSyntaxException when its text is malformed, or the shapes do not fit
     */
    public Function function(String name, Map<String, List<Integer>> shapes) {
        return parser(shapes).read(offset(name));
    }

    /**
     * One function as its text declares it, whether it can run or not.
     *
     * @throws MilSyntaxException when its text is malformed
     */
    public MilSurvey survey(String name) {
        return MilFunctionParser.survey(new MilLexer(source, text), offset(name));
    }

    private MilFunctionParser parser(Map<String, List<Integer>> shapes) {
        return new MilFunctionParser(new MilLexer(source, text), shapes);
    }

    private int offset(String name) {
        Integer offset = outline.functions().get(name);
        if (offset == null) {
            throw new IllegalArgumentException("the program has no function '" + name + "'; it has " + functionNames());
        }
        return offset;
    }

    /** The whole program. */
    public Program program() {
        List<Function> all = new ArrayList<>();
        for (String name : functionNames()) {
            all.add(function(name));
        }
        return new Program(version(), buildInfo(), all);
    }
}
