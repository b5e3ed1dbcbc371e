package dev.torchane.cache;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/**
 * SHA-256 over a checkpoint's files. A file's digest is remembered by path, size, modification time and inode, so that a
 * large checkpoint is read once.
 */
public final class SourceDigest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path memo;

    /**
     * @param root cache folder; the memory is {@code digests.json} in it
     */
    public SourceDigest(Path root) {
        this.memo = root.resolve("digests.json");
    }

    /**
     * Digest of files, in the order given, with their names.
     *
     * @throws TorchAneException when a file cannot be read
     */
    public String of(List<Path> files) {
        ObjectNode known = readMemo();
        boolean learned = false;
        MessageDigest all = ModelKey.sha256();
        for (Path file : files) {
            try {
                Path real = file.toRealPath();
                BasicFileAttributes attributes = Files.readAttributes(real, BasicFileAttributes.class);
                String stamp = attributes.size() + ":"
                        + attributes.lastModifiedTime().toInstant() + ":" + attributes.fileKey();
                String digest;
                if (known.path(real.toString()).path("stamp").asText().equals(stamp)) {
                    digest = known.path(real.toString()).path("sha256").asText();
                } else {
                    digest = sha256(real);
                    known.putObject(real.toString()).put("stamp", stamp).put("sha256", digest);
                    learned = true;
                }
                all.update(
                        (file.getFileName() + "\0" + digest + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8));
            } catch (IOException failure) {
                throw new TorchAneException("cannot read " + file + ": " + failure, failure);
            }
        }
        if (learned) {
            writeMemo(known);
        }
        return "sha256:" + HexFormat.of().formatHex(all.digest());
    }

    private static String sha256(Path file) throws IOException {
        MessageDigest digest = ModelKey.sha256();
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
        try (FileChannel channel = FileChannel.open(file)) {
            while (channel.read(buffer) >= 0) {
                digest.update(buffer.flip());
                buffer.clear();
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private ObjectNode readMemo() {
        try {
            if (Files.isRegularFile(memo) && JSON.readTree(memo.toFile()) instanceof ObjectNode node) {
                return node;
            }
        } catch (JacksonException damaged) {
            // a damaged memory costs a second reading, nothing else
        } catch (IOException unreadable) {
            throw new TorchAneException("cannot read " + memo + ": " + unreadable, unreadable);
        }
        return JSON.createObjectNode();
    }

    private void writeMemo(ObjectNode known) {
        Path fresh = null;
        try {
            Files.createDirectories(memo.getParent());
            fresh = Files.createTempFile(memo.getParent(), "digests", ".tmp");
            JSON.writeValue(fresh.toFile(), known);
            Files.move(fresh, memo, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failure) {
            // what is not remembered is computed again; a cache that cannot be written can still be read
            System.getLogger(SourceDigest.class.getName())
                    .log(System.Logger.Level.DEBUG, "digests are not remembered in {0}: {1}", memo, failure);
        } finally {
            discard(fresh);
        }
    }

    private static void discard(Path file) {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException left) {
            // an empty file on a disk that refuses everything
        }
    }
}
