package dev.torchane.weights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.testing.LittleEndian;
import dev.torchane.testing.SafetensorsWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Safetensors files that are broken, cut, disguised or hostile: each is refused with what is wrong with it. */
class SafetensorsAttackTest {

    @TempDir
    Path directory;

    @BeforeEach
    void configuration() throws IOException {
        Files.writeString(directory.resolve("config.json"), "{\"model_type\": \"llama\"}");
    }

    @Test
    void aHeaderLongerThanTheFileIsRefusedAtOnce() throws IOException {
        byte[] start =
                new LittleEndian().int64(132_095_296L).raw(new byte[1016]).toBytes();
        CheckpointFault fault = refuse(start);
        assertInstanceOf(CheckpointFault.HeaderBeyondFile.class, fault);
        assertMessage(fault, "132095296", "1024");
        assertInstanceOf(
                CheckpointFault.HeaderBeyondFile.class,
                refuse(new LittleEndian().int64(-8).raw(new byte[16]).toBytes()));
    }

    @Test
    void aValidHeaderOf132MegabytesIsRead() throws IOException {
        byte[] start =
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}".getBytes(StandardCharsets.UTF_8);
        byte[] padding = new byte[1 << 20];
        Arrays.fill(padding, (byte) ' ');
        long length = 132_095_296L;
        try (OutputStream out = Files.newOutputStream(directory.resolve("model.safetensors"))) {
            out.write(new LittleEndian().int64(length).raw(start).toBytes());
            for (long left = length - start.length; left > 0; left -= padding.length) {
                out.write(padding, 0, (int) Math.min(left, padding.length));
            }
            out.write(7);
        }
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertEquals(1, checkpoint.tensors().size());
        }
    }

    @Test
    void aHeaderBeyondTheLimitIsRefusedWithItsSizeAndTheLimit() throws IOException {
        long length = 300L << 20;
        try (RandomAccessFile sparse =
                new RandomAccessFile(directory.resolve("model.safetensors").toFile(), "rw")) {
            sparse.write(new LittleEndian().int64(length).raw(new byte[] {'{'}).toBytes());
            sparse.setLength(length + 64);
        }
        CheckpointFault fault = assertThrows(CheckpointException.class, () -> Checkpoint.open(directory))
                .fault();
        assertInstanceOf(CheckpointFault.HeaderTooLarge.class, fault);
        assertMessage(fault, "314572800", "268435456");
    }

    @Test
    @Tag("full")
    void aMillionTensorsAreRead() throws IOException {
        int count = 1_290_000;
        StringBuilder header = new StringBuilder("{");
        for (int i = 0; i < count; i++) {
            header.append(i == 0 ? "" : ",")
                    .append("\"model.layers.%08d.some.long.module.name.weight\":".formatted(i))
                    .append("{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[")
                    .append(i)
                    .append(',')
                    .append(i + 1)
                    .append("]}");
        }
        Files.write(
                directory.resolve("model.safetensors"),
                SafetensorsWriter.file(header.append('}').toString(), new byte[count]));
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertEquals(count, checkpoint.tensors().size());
        }
    }

    @Test
    void disguisedFilesAreNamed() throws IOException {
        assertMessage(refuse("PK\u0003\u0004" + "x".repeat(100)), "not a safetensors file", "PyTorch zip", ".bin");
        byte[] pickle = new byte[200];
        pickle[0] = (byte) 0x80;
        pickle[1] = 2;
        assertMessage(refuse(pickle), "not a safetensors file", "pickle");
        assertMessage(refuse("<!DOCTYPE html><html><body>404</body></html>"), "HTML");
        assertMessage(refuse("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), "Git LFS pointer");
        assertMessage(refuse("GGUF\u0003\u0000\u0000\u0000 and so on and on"), "GGUF");
        assertMessage(refuse(new byte[0]), "empty");
        assertMessage(refuse("abc"), "3 bytes");
    }

    @Test
    void aFileWhoseHeaderLengthLooksLikeAPickleIsNoPickle() throws IOException {
        String entry = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
        byte[] file = SafetensorsWriter.file(entry + " ".repeat(0x0280 - entry.length()), new byte[1]);
        assertEquals((byte) 0x80, file[0]);
        assertEquals(2, file[1]);
        Files.write(directory.resolve("model.safetensors"), file);
        Checkpoint.open(directory).close();
    }

    @Test
    void dataMustBeThereWholeAndNoMore() throws IOException {
        byte[] whole = twoTensors().toBytes();
        CheckpointFault cut = refuse(Arrays.copyOf(whole, whole.length - 4));
        assertInstanceOf(CheckpointFault.Truncated.class, cut);
        assertMessage(cut, "'b'", Integer.toString(whole.length), Integer.toString(whole.length - 4));
        CheckpointFault more = refuse(Arrays.copyOf(whole, whole.length + 4));
        assertInstanceOf(CheckpointFault.Uncovered.class, more);
        assertMessage(more, "4 bytes", "after 'b'");
    }

    record Broken(String label, Consumer<SafetensorsWriter> change, String... words) {
        @Override
        public String toString() {
            return label;
        }
    }

    static Stream<Broken> impossibleTensors() {
        return Stream.of(
                offsets("hole between tensors", 20, 28, "4 bytes", "between 'a' and 'b'"),
                offsets("overlap", 12, 20, "'b'", "inside 'a'", "12", "16"),
                offsets("begin after end", 24, 16, "'b'", "24", "16"),
                offsets("length unlike shape", 16, 28, "'b'", "needs 8 bytes", "span 12"),
                shape("shape product overflows", "[4611686018427387904, 4]", "'b'", "4611686018427387904"),
                shape("bytes overflow", "[4611686018427387904]", "'b'", "4611686018427387904"),
                shape("negative axis", "[-2]", "'b'"),
                shape("axis beyond 64 bits", "[36893488147419103232]", "'b'"),
                shape("fraction as axis", "[2.0]", "'b'"),
                dtype("unknown type", "F8_E4M3", "'b'", "F8_E4M3", "not supported"),
                dtype("nonsense type", "", "'b'"));
    }

    private static Broken offsets(String label, long begin, long end, String... words) {
        return new Broken(
                label,
                w -> w.header()
                        .withObjectProperty("b")
                        .putArray("data_offsets")
                        .add(begin)
                        .add(end),
                words);
    }

    private static Broken shape(String label, String json, String... words) {
        return new Broken(label, w -> w.header().withObjectProperty("b").set("shape", json(json)), words);
    }

    private static JsonNode json(String text) {
        try {
            return Json.MAPPER.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Broken dtype(String label, String name, String... words) {
        return new Broken(label, w -> w.header().withObjectProperty("b").put("dtype", name), words);
    }

    @ParameterizedTest
    @MethodSource
    void impossibleTensors(Broken broken) throws IOException {
        SafetensorsWriter writer = twoTensors();
        broken.change().accept(writer);
        assertMessage(refuse(writer.toBytes()), broken.words());
    }

    @Test
    void malformedHeadersAreRefused() throws IOException {
        String entry = "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
        for (String header : new String[] {
            "{",
            "{\"a\":" + entry,
            "{\"a\":" + entry + ",\"a\":" + entry + "}",
            "{\"a\":" + entry + "} x",
            "{\"a\":[1]}",
            "{\"a\":null}",
            "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}",
            "{\"a\":{\"dtype\":\"U8\",\"shape\":[[1]],\"data_offsets\":[0,1]}}",
            "{\"a\":" + "[".repeat(100_000),
            "{\"__metadata__\":{" + "\"a\":{".repeat(5000),
            "{\u0000}"
        }) {
            CheckpointFault fault = refuse(SafetensorsWriter.file(header, new byte[1]));
            assertTrue(
                    fault instanceof CheckpointFault.BadHeader || fault instanceof CheckpointFault.BadTensor,
                    () -> header.substring(0, Math.min(60, header.length())) + ": " + fault);
        }
    }

    @Test
    void everyPrefixAndEveryFlippedByteIsReadOrRefused() throws IOException {
        byte[] whole = twoTensors().toBytes();
        for (int length = 0; length < whole.length; length++) {
            refuse(Arrays.copyOf(whole, length));
        }
        for (int i = 0; i < whole.length; i++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] flipped = whole.clone();
                flipped[i] ^= (byte) (1 << bit);
                Files.write(directory.resolve("model.safetensors"), flipped);
                try (Checkpoint checkpoint = Checkpoint.open(directory)) {
                    checkpoint.tensors();
                } catch (CheckpointException e) {
                    assertTrue(e.getMessage().contains("model.safetensors"), e.getMessage());
                }
            }
        }
    }

    private static SafetensorsWriter twoTensors() {
        return new SafetensorsWriter()
                .floats("a", new long[] {2, 2}, 1, 2, 3, 4)
                .floats("b", new long[] {2}, 5, 6);
    }

    private CheckpointFault refuse(String content) throws IOException {
        return refuse(content.getBytes(StandardCharsets.ISO_8859_1));
    }

    private CheckpointFault refuse(byte[] content) throws IOException {
        Files.write(directory.resolve("model.safetensors"), content);
        CheckpointException e = assertThrows(CheckpointException.class, () -> Checkpoint.open(directory));
        assertTrue(e.getMessage().contains("model.safetensors"), e.getMessage());
        return e.fault();
    }

    private static void assertMessage(CheckpointFault fault, String... words) {
        for (String word : words) {
            assertTrue(fault.message().contains(word), () -> "'" + word + "' is not in: " + fault.message());
        }
    }
}
