package dev.torchane.venv;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipException;

/**
 * The central directory of a zip file of which only some bytes are at hand (APPNOTE 4.3.12 and 4.3.16, without the
 * Zip64 extensions: wheels stay below 4 GiB).
 */
final class ZipDirectory {

    static final int DEFLATE = 8;

    private static final int END_SIGNATURE = 0x06054b50;
    private static final int ENTRY_SIGNATURE = 0x02014b50;
    private static final int LOCAL_SIGNATURE = 0x04034b50;
    private static final int END_SIZE = 22;
    private static final int ENTRY_SIZE = 46;
    private static final int LOCAL_SIZE = 30;
    private static final int MAX_COMMENT = 0xffff;

    /** Reads some bytes of the file. */
    interface Source {

        ByteBuffer read(long from, int length) throws IOException;
    }

    /** Where a member lies. {@code header} is the offset of its local header, not of its data. */
    record Entry(int method, long crc32, long compressedSize, long size, long header) {}

    private ZipDirectory() {}

    /** The members by path. */
    static Map<String, Entry> read(Source source, long fileSize) throws IOException {
        int tailSize = (int) Math.min(fileSize, END_SIZE + MAX_COMMENT);
        ByteBuffer tail = source.read(fileSize - tailSize, tailSize).order(ByteOrder.LITTLE_ENDIAN);
        int end = tailSize - END_SIZE;
        while (end >= 0 && tail.getInt(end) != END_SIGNATURE) {
            end--;
        }
        if (end < 0) {
            throw new ZipException("not a zip file: no end of central directory in its last " + tailSize + " bytes");
        }
        long size = Integer.toUnsignedLong(tail.getInt(end + 12));
        long offset = Integer.toUnsignedLong(tail.getInt(end + 16));
        if (offset + size > fileSize || size > Integer.MAX_VALUE) {
            throw new ZipException("broken zip file: its directory of %d bytes at %d does not fit into %d bytes"
                    .formatted(size, offset, fileSize));
        }
        return entries(source.read(offset, (int) size).order(ByteOrder.LITTLE_ENDIAN));
    }

    private static Map<String, Entry> entries(ByteBuffer directory) throws IOException {
        var entries = new LinkedHashMap<String, Entry>();
        int at = 0;
        while (at + ENTRY_SIZE <= directory.limit() && directory.getInt(at) == ENTRY_SIGNATURE) {
            int nameSize = Short.toUnsignedInt(directory.getShort(at + 28));
            int extraSize = Short.toUnsignedInt(directory.getShort(at + 30));
            int commentSize = Short.toUnsignedInt(directory.getShort(at + 32));
            if (at + ENTRY_SIZE + nameSize > directory.limit()) {
                throw new ZipException("broken zip file: its directory is cut off");
            }
            byte[] name = new byte[nameSize];
            directory.get(at + ENTRY_SIZE, name);
            entries.put(
                    new String(name, StandardCharsets.UTF_8),
                    new Entry(
                            directory.getShort(at + 10),
                            Integer.toUnsignedLong(directory.getInt(at + 16)),
                            Integer.toUnsignedLong(directory.getInt(at + 20)),
                            Integer.toUnsignedLong(directory.getInt(at + 24)),
                            Integer.toUnsignedLong(directory.getInt(at + 42))));
            at += ENTRY_SIZE + nameSize + extraSize + commentSize;
        }
        return entries;
    }

    /** The offset of a member's compressed bytes. */
    static long dataOffset(Source source, Entry entry) throws IOException {
        ByteBuffer local = source.read(entry.header, LOCAL_SIZE).order(ByteOrder.LITTLE_ENDIAN);
        if (local.getInt(0) != LOCAL_SIGNATURE) {
            throw new ZipException("broken zip file: no local header at " + entry.header);
        }
        return entry.header
                + LOCAL_SIZE
                + Short.toUnsignedInt(local.getShort(26))
                + Short.toUnsignedInt(local.getShort(28));
    }
}
