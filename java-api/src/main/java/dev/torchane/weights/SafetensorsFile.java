package dev.torchane.weights;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reader of the safetensors format: eight bytes of header length, a JSON header, then the tensors' bytes, which must
 * cover the rest of the file without holes or overlaps.
 */
final class SafetensorsFile {

    /** Longest header that is read: twice the longest seen in the wild. */
    static final long HEADER_LIMIT = 256L << 20;

    private static final ValueLayout.OfLong LENGTH = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int PREFIX = Long.BYTES;

    private final Path file;
    private final MemorySegment bytes;

    private SafetensorsFile(MappedFile mapped) {
        this.file = mapped.file();
        this.bytes = mapped.bytes();
    }

    /** All tensors of a file, by name, in the order of the header. */
    static Map<String, WeightTensor> read(MappedFile mapped) {
        return new SafetensorsFile(mapped).read();
    }

    /** One tensor as the header describes it, before anything is checked. */
    private record Entry(String name, String dtype, List<Long> shape, long begin, long end) {}

    private Map<String, WeightTensor> read() {
        long headerBytes = headerBytes();
        List<Entry> entries = parse(bytes.asSlice(PREFIX, headerBytes));
        return validate(entries, bytes.asSlice(PREFIX + headerBytes));
    }

    private long headerBytes() {
        if (bytes.byteSize() <= PREFIX) {
            throw wrongFormat("it has only " + bytes.byteSize() + " bytes");
        }
        long length = bytes.get(LENGTH, 0);
        boolean fits = length > 0 && length <= bytes.byteSize() - PREFIX;
        boolean brace = bytes.get(ValueLayout.JAVA_BYTE, PREFIX) == '{';
        if (!fits || !brace) {
            FileProbe.recognise(bytes).filter(found -> !brace).ifPresent(found -> {
                throw wrongFormat(found);
            });
        }
        if (!fits) {
            throw new CheckpointFault.HeaderBeyondFile(file, Long.toUnsignedString(length), bytes.byteSize())
                    .exception();
        }
        if (length > HEADER_LIMIT) {
            throw new CheckpointFault.HeaderTooLarge(file, length, HEADER_LIMIT).exception();
        }
        if (!brace) {
            throw new CheckpointFault.BadHeader(file, "it does not begin with '{'").exception();
        }
        return length;
    }

    private CheckpointException wrongFormat(String found) {
        return new CheckpointFault.WrongFormat(
                        file, "safetensors", FileProbe.recognise(bytes).orElse(found))
                .exception();
    }

    private List<Entry> parse(MemorySegment header) {
        List<Entry> entries = new ArrayList<>();
        try (InputStream in = new SegmentInputStream(header);
                JsonParser parser = Json.MAPPER.createParser(in)) {
            expect(parser.nextToken(), JsonToken.START_OBJECT);
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                expect(parser.nextToken(), JsonToken.START_OBJECT);
                if (name.equals("__metadata__")) {
                    parser.skipChildren();
                } else {
                    entries.add(entry(name, parser));
                }
            }
            if (parser.nextToken() != null) {
                throw new CheckpointFault.BadHeader(file, "there is text after the JSON object").exception();
            }
        } catch (JacksonException e) {
            throw new CheckpointFault.BadHeader(file, e.getOriginalMessage()).exception(e);
        } catch (IOException e) {
            throw new CheckpointFault.Unreadable(file, e.toString()).exception(e);
        }
        return entries;
    }

    private Entry entry(String name, JsonParser parser) throws IOException {
        String dtype = "";
        List<Long> shape = null;
        List<Long> offsets = List.of();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            JsonToken token = parser.nextToken();
            switch (field) {
                case "dtype" -> {
                    expect(token, JsonToken.VALUE_STRING);
                    dtype = parser.getText();
                }
                case "shape" -> shape = longs(name, parser, token);
                case "data_offsets" -> offsets = longs(name, parser, token);
                default ->
                    throw new CheckpointFault.BadTensor(file, name, "has an unknown field '" + field + "'").exception();
            }
        }
        if (dtype.isEmpty() || shape == null || offsets.size() != 2) {
            throw new CheckpointFault.BadTensor(file, name, "lacks one of dtype, shape and two data_offsets")
                    .exception();
        }
        return new Entry(name, dtype, shape, offsets.get(0), offsets.get(1));
    }

    private List<Long> longs(String name, JsonParser parser, JsonToken start) throws IOException {
        expect(start, JsonToken.START_ARRAY);
        List<Long> values = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                    || parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                    || parser.getLongValue() < 0) {
                throw new CheckpointFault.BadTensor(
                                file, name, "has a size or offset that is not a number from 0 to 2^63 - 1")
                        .exception();
            }
            values.add(parser.getLongValue());
            if (values.size() > 64) {
                throw new CheckpointFault.BadTensor(file, name, "has more than 64 axes").exception();
            }
        }
        return values;
    }

    private void expect(JsonToken found, JsonToken expected) {
        if (found != expected) {
            throw new CheckpointFault.BadHeader(file, "found " + found + " where " + expected + " belongs").exception();
        }
    }

    /** The one place where every rule of the format is enforced. */
    private Map<String, WeightTensor> validate(List<Entry> entries, MemorySegment data) {
        long covered = 0;
        String previous = "the header";
        for (Entry entry : entries.stream()
                .sorted(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end))
                .toList()) {
            long expected = expectedBytes(entry);
            if (entry.begin() > entry.end()) {
                throw bad(entry, "ends at byte " + entry.end() + ", before its begin " + entry.begin());
            }
            if (entry.end() - entry.begin() != expected) {
                throw bad(
                        entry,
                        "of type " + entry.dtype() + " and shape " + entry.shape() + " needs " + expected
                                + " bytes, its offsets span " + (entry.end() - entry.begin()));
            }
            if (entry.begin() < covered) {
                throw bad(
                        entry,
                        "begins at byte " + entry.begin() + ", inside '" + previous + "', which ends at " + covered);
            }
            if (entry.begin() > covered) {
                throw new CheckpointFault.Uncovered(
                                file, "between '" + previous + "' and '" + entry.name() + "'", entry.begin() - covered)
                        .exception();
            }
            if (entry.end() > data.byteSize()) {
                throw new CheckpointFault.Truncated(
                                file,
                                "tensor '" + entry.name() + "'",
                                bytes.byteSize() - data.byteSize() + entry.end(),
                                bytes.byteSize())
                        .exception();
            }
            covered = entry.end();
            previous = entry.name();
        }
        if (covered != data.byteSize()) {
            throw new CheckpointFault.Uncovered(file, "after '" + previous + "'", data.byteSize() - covered)
                    .exception();
        }
        Map<String, WeightTensor> tensors = LinkedHashMap.newLinkedHashMap(entries.size());
        for (Entry entry : entries) {
            MemorySegment view = data.asSlice(entry.begin(), entry.end() - entry.begin());
            tensors.put(
                    entry.name(), new WeightTensor(entry.name(), type(entry), entry.shape(), view, RowOrder.FILE, 0));
        }
        return tensors;
    }

    private long expectedBytes(Entry entry) {
        try {
            long elements = 1;
            for (long size : entry.shape()) {
                elements = Math.multiplyExact(elements, size);
            }
            return type(entry).bytes(elements);
        } catch (ArithmeticException e) {
            throw bad(entry, "has shape " + entry.shape() + ", more bytes than a file can have");
        }
    }

    private WeightType type(Entry entry) {
        return switch (entry.dtype()) {
            case "F64" -> WeightType.F64;
            case "F32" -> WeightType.F32;
            case "F16" -> WeightType.F16;
            case "BF16" -> WeightType.BF16;
            case "I64" -> WeightType.I64;
            case "I32" -> WeightType.I32;
            case "I16" -> WeightType.I16;
            case "I8" -> WeightType.I8;
            case "U8" -> WeightType.U8;
            case "BOOL" -> WeightType.BOOL;
            default ->
                throw new CheckpointFault.UnsupportedType(
                                file, entry.name(), entry.dtype(), "use a checkpoint in F32, F16 or BF16")
                        .exception();
        };
    }

    private CheckpointException bad(Entry entry, String reason) {
        return new CheckpointFault.BadTensor(file, entry.name(), reason).exception();
    }
}
