package dev.torchane.llm;

import dev.torchane.TorchAneException;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.llm.SavedStateException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A {@link KvState} in a file.
 *
 * <pre>
 * "TANESTAT"  format (int32)  size of the header (int32)
 * header      fingerprint (count, then names and values)  tokens (count, then int32 each)  attachment
 * states      in the fingerprint's order of names: for each layer and head the columns of the tokens, as the engine keeps them
 * digest      SHA-256 of everything before it
 * </pre>
 *
 * Numbers of the header are big-endian, strings have their length in front. A file is whole or absent: it is written beside
 * its place and renamed.
 */
final class SavedState {

    private static final byte[] MAGIC = "TANESTAT".getBytes(StandardCharsets.US_ASCII);
    private static final int FORMAT = 1;
    private static final int PREFIX = MAGIC.length + 8;
    private static final int DIGEST = 32;
    private static final int CHUNK = 1 << 20;

    private SavedState() {}

    /**
     * Writes a state.
     *
     * @param fingerprint what another process must have in common to go on from it
     * @param attachment anything else that belongs to the conversation
     * @throws TorchAneException when the file cannot be written; what was there before is untouched
     */
    static void write(Path file, KvState state, SortedMap<String, String> fingerprint, byte[] attachment) {
        Path unfinished = null;
        try {
            Path place = place(file);
            Files.createDirectories(place.getParent());
            unfinished = Files.createTempFile(place.getParent(), ".state", ".tmp");
            try (FileChannel channel = FileChannel.open(unfinished, StandardOpenOption.WRITE)) {
                write(channel, state, fingerprint, attachment);
                channel.force(true);
            }
            Files.move(unfinished, place, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new TorchAneException("cannot save the state in " + file + ": " + e, e);
        } finally {
            deleteIfLeft(unfinished);
        }
    }

    /** Where a file is or will be; links are followed, and what is no file is not replaced by one. */
    private static Path place(Path file) throws IOException {
        if (!Files.exists(file)) {
            return file.toAbsolutePath();
        }
        Path place = file.toRealPath();
        if (!Files.isRegularFile(place)) {
            throw new TorchAneException(
                    "cannot save the state in " + file + ": a folder or a device is there; give the name of a file");
        }
        return place;
    }

    private static void deleteIfLeft(Path unfinished) {
        try {
            if (unfinished != null) {
                Files.deleteIfExists(unfinished);
            }
        } catch (IOException e) {
            System.getLogger(SavedState.class.getName())
                    .log(System.Logger.Level.WARNING, "cannot delete " + unfinished, e);
        }
    }

    private static void write(
            FileChannel channel, KvState state, SortedMap<String, String> fingerprint, byte[] attachment)
            throws IOException {
        byte[] header = header(all(fingerprint, state.state()), state.tokens(), attachment);
        MessageDigest digest = sha256();
        ByteBuffer prefix = ByteBuffer.allocate(PREFIX);
        write(
                channel,
                digest,
                prefix.put(MAGIC).putInt(FORMAT).putInt(header.length).flip());
        write(channel, digest, ByteBuffer.wrap(header));
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
        for (MemorySegment columns : columns(state)) {
            for (long place = 0; place < columns.byteSize(); place += CHUNK) {
                int size = (int) Math.min(CHUNK, columns.byteSize() - place);
                chunk.clear().limit(size);
                MemorySegment.ofBuffer(chunk).copyFrom(columns.asSlice(place, size));
                write(channel, digest, chunk);
            }
        }
        write(channel, sha256(), ByteBuffer.wrap(digest.digest()));
    }

    /** The columns of a state's tokens, in the order of the file. */
    private static List<MemorySegment> columns(KvState state) {
        List<MemorySegment> columns = new ArrayList<>();
        for (String name : layout(state.state()).keySet()) {
            Tensor tensor = state.state().tensor(name);
            for (long block = 0; block < StateColumns.blocks(tensor); block++) {
                columns.add(StateColumns.columns(tensor, block, state.position()));
            }
        }
        return columns;
    }

    private static void write(FileChannel channel, MessageDigest digest, ByteBuffer bytes) throws IOException {
        digest.update(bytes.duplicate());
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private static byte[] header(SortedMap<String, String> fingerprint, int[] tokens, byte[] attachment) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(fingerprint.size());
            for (Map.Entry<String, String> entry : fingerprint.entrySet()) {
                put(out, entry.getKey().getBytes(StandardCharsets.UTF_8));
                put(out, entry.getValue().getBytes(StandardCharsets.UTF_8));
            }
            out.writeInt(tokens.length);
            for (int token : tokens) {
                out.writeInt(token);
            }
            put(out, attachment);
        } catch (IOException e) {
            throw new UncheckedIOException("memory cannot be written", e);
        }
        return bytes.toByteArray();
    }

    private static void put(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /**
     * Reads a state.
     *
     * @throws SavedStateException when it cannot be read, is damaged, or does not belong to this model
     */
    static LanguageModel.Restored read(Path file, LanguageModel model, SortedMap<String, String> fingerprint) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int headerSize = verify(file, channel);
            ByteBuffer header = read(channel, PREFIX, headerSize);
            SortedMap<String, String> found = fingerprint(header);
            int[] tokens = ints(header);
            byte[] attachment = bytes(header);
            KvState state = model.newState();
            try {
                refuseOthers(file, found, all(fingerprint, state.state()));
                if (tokens.length > model.shape().maxLen()) {
                    throw new SavedStateException(
                            Reason.TOO_LONG,
                            file,
                            "it has " + tokens.length + " tokens; this model was built for maxLen "
                                    + model.shape().maxLen());
                }
                fill(file, channel, PREFIX + (long) headerSize, state, tokens);
                return new LanguageModel.Restored(state, attachment);
            } catch (RuntimeException | IOException e) {
                state.close();
                throw e;
            }
        } catch (IOException e) {
            throw new SavedStateException(Reason.UNREADABLE, file, e.toString(), e);
        } catch (BufferUnderflowException | NegativeArraySizeException | IllegalArgumentException e) {
            throw new SavedStateException(Reason.DAMAGED, file, "its header makes no sense", e);
        }
    }

    private static void fill(Path file, FileChannel channel, long from, KvState state, int[] tokens)
            throws IOException {
        state.append(tokens);
        state.ensureCapacity(tokens.length);
        state.advance(tokens.length);
        List<MemorySegment> columns = columns(state);
        long size = columns.stream().mapToLong(MemorySegment::byteSize).sum();
        if (from + size + DIGEST != channel.size()) {
            throw new SavedStateException(
                    Reason.DAMAGED,
                    file,
                    "the states of its " + tokens.length + " tokens take " + size + " bytes, it has "
                            + (channel.size() - DIGEST - from));
        }
        long place = from;
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
        for (MemorySegment one : columns) {
            for (long done = 0; done < one.byteSize(); done += CHUNK) {
                chunk.clear().limit((int) Math.min(CHUNK, one.byteSize() - done));
                readFully(channel, place + done, chunk);
                one.asSlice(done, chunk.flip().limit()).copyFrom(MemorySegment.ofBuffer(chunk));
            }
            place += one.byteSize();
        }
    }

    /** Size of the header, of a file whose digest is right. */
    private static int verify(Path file, FileChannel channel) throws IOException {
        long size = channel.size();
        ByteBuffer prefix = read(channel, 0, (int) Math.min(size, PREFIX));
        byte[] magic = new byte[Math.min(MAGIC.length, prefix.remaining())];
        prefix.get(magic);
        if (magic.length == 0 || !Arrays.equals(magic, Arrays.copyOf(MAGIC, magic.length))) {
            throw new SavedStateException(Reason.NOT_A_STATE, file, "it is no saved state of a conversation");
        }
        if (size < PREFIX + DIGEST) {
            throw new SavedStateException(Reason.DAMAGED, file, "it ends after " + size + " bytes");
        }
        int format = prefix.getInt();
        if (format != FORMAT) {
            throw new SavedStateException(
                    Reason.OTHER_FORMAT, file, "it has the format " + format + ", this version reads " + FORMAT);
        }
        MessageDigest digest = sha256();
        for (long place = 0; place < size - DIGEST; place += CHUNK) {
            digest.update(read(channel, place, (int) Math.min(CHUNK, size - DIGEST - place)));
        }
        int header = prefix.getInt();
        if (!Arrays.equals(digest.digest(), read(channel, size - DIGEST, DIGEST).array())
                || header < 0
                || header > size - DIGEST - PREFIX) {
            throw new SavedStateException(
                    Reason.DAMAGED, file, "its digest is not that of its " + size + " bytes: it was cut or changed");
        }
        return header;
    }

    private static ByteBuffer read(FileChannel channel, long place, int size) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(size);
        readFully(channel, place, bytes);
        return bytes.flip();
    }

    private static void readFully(FileChannel channel, long place, ByteBuffer bytes) throws IOException {
        long from = place;
        while (bytes.hasRemaining()) {
            int count = channel.read(bytes, from);
            if (count < 0) {
                throw new IOException("it became shorter while it was read");
            }
            from += count;
        }
    }

    private static SortedMap<String, String> fingerprint(ByteBuffer header) {
        SortedMap<String, String> found = new TreeMap<>();
        int count = header.getInt();
        for (int i = 0; i < count; i++) {
            String name = new String(bytes(header), StandardCharsets.UTF_8);
            found.put(name, new String(bytes(header), StandardCharsets.UTF_8));
        }
        return found;
    }

    private static byte[] bytes(ByteBuffer header) {
        int size = header.getInt();
        if (size > header.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[size];
        header.get(bytes);
        return bytes;
    }

    private static int[] ints(ByteBuffer header) {
        int count = header.getInt();
        if (count > header.remaining() / Integer.BYTES) {
            throw new BufferUnderflowException();
        }
        int[] ints = new int[count];
        header.asIntBuffer().get(ints);
        header.position(header.position() + Integer.BYTES * count);
        return ints;
    }

    private static void refuseOthers(Path file, SortedMap<String, String> found, SortedMap<String, String> expected) {
        if (found.equals(expected)) {
            return;
        }
        TreeMap<String, String> names = new TreeMap<>(found);
        names.putAll(expected);
        StringBuilder differences = new StringBuilder();
        for (String name : names.keySet()) {
            String theirs = found.getOrDefault(name, "nothing");
            String ours = expected.getOrDefault(name, "nothing");
            if (!theirs.equals(ours)) {
                differences
                        .append(differences.isEmpty() ? "" : "; ")
                        .append(name)
                        .append(" is ")
                        .append(theirs)
                        .append(" in the file, ")
                        .append(ours)
                        .append(" in this model");
            }
        }
        throw new SavedStateException(
                Reason.OTHER_MODEL, file, "it was saved from another model or another build of it: " + differences);
    }

    /** A caller's fingerprint, and the layout of the states. */
    private static SortedMap<String, String> all(SortedMap<String, String> fingerprint, State state) {
        SortedMap<String, String> all = new TreeMap<>(fingerprint);
        layout(state).forEach((name, type) -> all.put("state " + name, type));
        return all;
    }

    private static SortedMap<String, String> layout(State state) {
        SortedMap<String, String> layout = new TreeMap<>();
        for (String name : state.names()) {
            Tensor tensor = state.tensor(name);
            StringBuilder type = new StringBuilder(tensor.type().dtype().mil());
            for (int axis = 0; axis < tensor.type().rank(); axis++) {
                boolean columns = axis == tensor.type().rank() - 2;
                type.append(' ')
                        .append(columns ? "·" : Integer.toString(tensor.type().axis(axis)));
            }
            layout.put(name, type.toString());
        }
        return layout;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has SHA-256", missing);
        }
    }
}
