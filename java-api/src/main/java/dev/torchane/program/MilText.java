package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** MIL text, in the grammar Core ML writes. */
public final class MilText {

    private MilText() {}

    /** The text of a program. */
    public static String write(Program program) {
        return new MilWriter().program(program);
    }

    /**
     * The program of a text.
     *
     * @throws MilSyntaxException when it is malformed; names line, column, what was expected and found
     */
    public static Program read(String text) {
        return MilDocument.of(text).program();
    }

    /**
     * A file of MIL text, its functions to be read when asked for.
     *
     * @throws TorchAneException when the file is missing or its frame is malformed
     */
    public static MilDocument open(Path file) {
        try {
            return new MilDocument(file.toString(), Files.readAllBytes(file));
        } catch (NoSuchFileException e) {
            throw new TorchAneException("the program " + file + " is missing: build the model again", e);
        } catch (IOException e) {
            throw new TorchAneException("cannot read the program " + file + ": " + e, e);
        } catch (OutOfMemoryError e) {
            throw new TorchAneException("the program " + file + " is too large to be MIL text", e);
        }
    }
}
