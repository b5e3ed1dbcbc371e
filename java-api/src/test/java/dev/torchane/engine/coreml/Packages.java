package dev.torchane.engine.coreml;

import dev.torchane.program.Bundle;
import dev.torchane.program.MilFile;
import dev.torchane.program.Program;
import dev.torchane.program.WeightFileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/** Packages of programs that a test makes. */
final class Packages {

    private Packages() {}

    /** Writes a bundle beside the package, and the package. */
    static Path write(Path folder, String name, CoreMlOptions options, Function<WeightFileWriter, Program> maker) {
        Path bundle = folder.resolve(name + ".bundle");
        Path target = folder.resolve(name + CoreMlPackage.SUFFIX);
        try {
            Files.createDirectories(bundle);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        MilFile.writeBundle(bundle, "cpu", maker);
        try (Bundle opened = Bundle.open(bundle)) {
            CoreMlPackage.write(opened, target, options);
        }
        return target;
    }
}
