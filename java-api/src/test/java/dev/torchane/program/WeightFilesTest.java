package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class WeightFilesTest {

    private static final TensorType MATRIX = TensorType.of(DType.FP32, 2, 3);

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("weight.bin");
    }

    private long[] writeTwo() {
        try (WeightFileWriter writer = WeightFileWriter.create(file())) {
            long first = writer.append(MATRIX, MemorySegment.ofArray(new float[] {1, 2, 3, 4, 5, 6}));
            long second = writer.append(DType.INT8, 5, sink -> {
                sink.accept(MemorySegment.ofArray(new byte[] {1, 2, 3}));
                sink.accept(MemorySegment.ofArray(new byte[] {4, 5}));
            });
            writer.finish();
            return new long[] {first, second};
        }
    }

    @Test
    void blobsComeBackAsTheyWereWritten() {
        long[] offsets = writeTwo();
        try (WeightFile weights = WeightFile.open(file())) {
            assertArrayEquals(
                    new float[] {1, 2, 3, 4, 5, 6},
                    weights.data(offsets[0], MATRIX).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
            assertArrayEquals(
                    new byte[] {1, 2, 3, 4, 5}, weights.blob(offsets[1]).data().toArray(ValueLayout.JAVA_BYTE));
            assertEquals(DType.INT8, weights.blob(offsets[1]).dtype());
            assertEquals(2, weights.blobs().size());
        }
    }

    @Test
    void theBytesAreThoseOfMilBlobStorageVersionTwo() throws IOException {
        assertArrayEquals(new long[] {64, 192}, writeTwo());
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file())).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(192 + 64 + 5, bytes.capacity());
        assertEquals(2, bytes.getInt(0));
        assertEquals(2, bytes.getInt(4));
        assertEquals(0xDEADBEEF, bytes.getInt(64));
        assertEquals(2, bytes.getInt(68), "fp32");
        assertEquals(24, bytes.getLong(72));
        assertEquals(128, bytes.getLong(80));
        assertEquals(4, bytes.getInt(196), "int8");
        assertEquals(256, bytes.getLong(208));
    }

    @Test
    void subByteTypesRecordTheirPadding() {
        TensorType type = TensorType.of(DType.UINT3, 3);
        long offset;
        try (WeightFileWriter writer = WeightFileWriter.create(file())) {
            offset = writer.append(type, MemorySegment.ofArray(new byte[] {1, 1}));
            writer.finish();
        }
        try (WeightFile weights = WeightFile.open(file())) {
            assertEquals(7, weights.blob(offset).paddingBits());
            assertEquals(2, weights.data(offset, type).byteSize());
        }
    }

    @Test
    void aBlobOfAnotherTypeThanTheProgramSaysIsRefused() {
        long[] offsets = writeTwo();
        try (WeightFile weights = WeightFile.open(file())) {
            TorchAneException e =
                    assertThrows(TorchAneException.class, () -> weights.data(offsets[1], TensorType.of(DType.INT8, 6)));
            assertTrue(e.getMessage().contains("expected tensor<int8, [6]> (6 bytes) at offset 192, found 5 bytes"));
            assertThrows(TorchAneException.class, () -> weights.blob(65));
        }
    }

    @Test
    void tilesMustSumUpAndAFailedAppendBreaksTheFile() {
        try (WeightFileWriter writer = WeightFileWriter.create(file())) {
            MemorySegment four = MemorySegment.ofArray(new byte[4]);
            assertThrows(IllegalArgumentException.class, () -> writer.append(DType.INT8, 5, four));
            assertThrows(IllegalStateException.class, () -> writer.append(DType.INT8, 4, four));
            assertThrows(IllegalStateException.class, writer::finish);
        }
        assertThrows(TorchAneException.class, () -> WeightFile.open(file()));
    }

    @Test
    @Tag("full")
    void filesBeyondTwoGigabytesAreWrittenAndRead() {
        byte[] tile = new byte[1 << 26];
        long bytes = 33L * tile.length;
        try (WeightFileWriter writer = WeightFileWriter.create(file())) {
            writer.append(DType.UINT8, bytes, sink -> {
                for (int i = 0; i < 33; i++) {
                    tile[0] = (byte) i;
                    sink.accept(MemorySegment.ofArray(tile));
                }
            });
            assertEquals(128 + bytes, writer.append(MATRIX, MemorySegment.ofArray(new float[6])));
            writer.finish();
        }
        try (WeightFile weights = WeightFile.open(file())) {
            assertEquals(32, weights.blob(64).data().get(ValueLayout.JAVA_BYTE, 32L * tile.length));
            assertEquals(24, weights.data(128 + bytes, MATRIX).byteSize());
        }
    }

    @Test
    void useAfterCloseIsAnIllegalState() {
        long[] offsets = writeTwo();
        WeightFile weights = WeightFile.open(file());
        MemorySegment view = weights.blob(offsets[0]).data();
        weights.close();
        weights.close();
        assertThrows(IllegalStateException.class, () -> weights.blob(offsets[0]));
        assertThrows(IllegalStateException.class, () -> view.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void aMissingFileIsNamed() {
        TorchAneException e = assertThrows(TorchAneException.class, () -> WeightFile.open(file()));
        assertTrue(e.getMessage().contains("weight.bin is missing"), e.getMessage());
    }

    static Stream<Arguments> attacks() {
        return Stream.of(
                Arguments.of("too many blobs", 0, 3L, 4, "record 2 of 3"),
                Arguments.of("four billion blobs", 0, 0xffffffffL, 4, "record 2 of 4294967295"),
                Arguments.of("an unfinished build", 4, 0L, 4, "version 2"),
                Arguments.of("another version", 4, 1L, 4, "version 1"),
                Arguments.of("no mark", 64, 0L, 4, "0xdeadbeef"),
                Arguments.of("an unknown element type", 68, 99L, 4, "an element type from 1 to 15"),
                Arguments.of("more bytes than the file", 72, 1_000_000L, 8, "1000000 bytes"),
                Arguments.of("a negative size", 72, -1L, 8, "18446744073709551615 bytes"),
                Arguments.of("data elsewhere", 80, 1L << 40, 8, "the data at 128"),
                Arguments.of("data before the header", 80, -64L, 8, "the data at 128"),
                Arguments.of("absurd padding", 88, 8L, 8, "0 to 7 padding bits"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void damagedFilesAreRefusedWithFileOffsetExpectedAndFound(String what, int at, long value, int width, String part)
            throws IOException {
        writeTwo();
        byte[] bytes = Files.readAllBytes(file());
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (width == 4) {
            buffer.putInt(at, (int) value);
        } else {
            buffer.putLong(at, value);
        }
        Files.write(file(), bytes);
        TorchAneException e = assertThrows(TorchAneException.class, () -> WeightFile.open(file()));
        assertTrue(e.getMessage().contains(part), e.getMessage());
        assertTrue(e.getMessage().contains("weight.bin"), e.getMessage());
        assertTrue(e.getMessage().contains("offset"), e.getMessage());
    }

    @Test
    void anyTruncationOrFlippedBytesOpenOrAreRefusedButNeverFault() throws IOException {
        writeTwo();
        byte[] whole = Files.readAllBytes(file());
        Random random = new Random(1);
        for (int i = 0; i < 400; i++) {
            byte[] bytes = i < whole.length ? java.util.Arrays.copyOf(whole, i) : whole.clone();
            if (i >= whole.length) {
                bytes[random.nextInt(256)] = (byte) random.nextInt();
            }
            Files.write(file(), bytes);
            try (WeightFile weights = WeightFile.open(file())) {
                assertTrue(i >= whole.length, "a file cut at " + i + " was accepted");
                weights.blobs().values().forEach(blob -> assertTrue(blob.data().byteSize() <= whole.length));
            } catch (TorchAneException expected) {
                assertTrue(expected.getMessage().contains("weight.bin"));
            }
        }
    }
}
