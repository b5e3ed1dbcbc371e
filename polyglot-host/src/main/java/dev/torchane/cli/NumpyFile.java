package dev.torchane.cli;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/** NumPy's files of one tensor ({@code .npy}, versions 1 to 3) and of several ({@code .npz}), little-endian and in C order. */
final class NumpyFile {

    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final Map<String, DType> TYPES = Map.of(
            "<f8",
            DType.FP64,
            "<f4",
            DType.FP32,
            "<f2",
            DType.FP16,
            "<i8",
            DType.INT64,
            "<i4",
            DType.INT32,
            "<i2",
            DType.INT16,
            "|i1",
            DType.INT8,
            "|u1",
            DType.UINT8,
            "<u2",
            DType.UINT16,
            "|b1",
            DType.BOOL);
    private static final Pattern HEADER =
            Pattern.compile("\\{\\s*'descr'\\s*:\\s*'([^']{1,8})'\\s*,\\s*'fortran_order'\\s*:\\s*(True|False)\\s*,"
                    + "\\s*'shape'\\s*:\\s*\\(([\\d,\\s]*)\\)\\s*,?\\s*}\\s*");
    private static final int LARGEST_HEADER = 1 << 16;

    private NumpyFile() {}

    /** The tensor of an {@code .npy} file. */
    static Tensor read(Path file) {
        try {
            return tensor(file.toString(), Files.readAllBytes(file));
        } catch (IOException e) {
            throw new TorchAneException("cannot read " + file + ": " + e, e);
        }
    }

    /** The tensors of an {@code .npz} file by name. */
    static Map<String, Tensor> readAll(Path file) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(file))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                String name = entry.getName();
                tensors.put(
                        name.endsWith(".npy") ? name.substring(0, name.length() - 4) : name,
                        tensor(file + ":" + name, zip.readAllBytes()));
            }
        } catch (IOException e) {
            throw new TorchAneException("cannot read " + file + ": " + e, e);
        }
        return tensors;
    }

    /** Reads the bytes of an {@code .npy} file; {@code source} names it in errors. */
    static Tensor tensor(String source, byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        boolean magic = bytes.length >= 10;
        for (int i = 0; magic && i < MAGIC.length; i++) {
            magic = bytes[i] == MAGIC[i];
        }
        if (!magic || bytes[6] < 1 || bytes[6] > 3 || (bytes[6] > 1 && bytes.length < 12)) {
            throw new TorchAneException(source + " is no .npy file of version 1, 2 or 3");
        }
        int begin = bytes[6] == 1 ? 10 : 12;
        long length = bytes[6] == 1 ? in.getShort(8) & 0xffff : in.getInt(8) & 0xffffffffL;
        if (length > LARGEST_HEADER || begin + length > bytes.length) {
            throw new TorchAneException(source + ": expected a header of at most " + LARGEST_HEADER
                    + " bytes within the file, found " + length);
        }
        String header = new String(bytes, begin, (int) length, StandardCharsets.ISO_8859_1);
        Matcher parts = HEADER.matcher(header);
        DType dtype = parts.matches() ? TYPES.get(parts.group(1)) : null;
        if (dtype == null || parts.group(2).equals("True")) {
            throw new TorchAneException(source + ": expected a little-endian array in C order of " + TYPES.keySet()
                    + ", found " + header.strip());
        }
        List<Integer> shape = new ArrayList<>();
        try {
            for (String size : parts.group(3).split(",")) {
                if (!size.isBlank()) {
                    shape.add(Integer.parseInt(size.strip()));
                }
            }
            TensorType type = new TensorType(dtype, shape);
            long rest = bytes.length - begin - length;
            if (type.bytes() != rest) {
                throw new TorchAneException(
                        source + ": expected the " + type.bytes() + " bytes of a " + type + ", found " + rest);
            }
            Tensor tensor = Tensor.allocate(type);
            MemorySegment.copy(bytes, begin + (int) length, tensor.data(), ValueLayout.JAVA_BYTE, 0, (int) rest);
            return tensor;
        } catch (NumberFormatException | ArithmeticException e) {
            throw new TorchAneException(source + ": expected a shape, found (" + parts.group(3) + ")", e);
        }
    }

    /** Writes tensors as an {@code .npz} file. */
    static void write(Path file, Map<String, Tensor> tensors) {
        try (ZipOutputStream zip = new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            for (Map.Entry<String, Tensor> each : tensors.entrySet()) {
                zip.putNextEntry(new ZipEntry(each.getKey() + ".npy"));
                write(zip, each.getValue());
                zip.closeEntry();
            }
        } catch (IOException e) {
            throw new TorchAneException("cannot write " + file + ": " + e, e);
        }
    }

    private static void write(OutputStream out, Tensor tensor) throws IOException {
        String code = TYPES.entrySet().stream()
                .filter(each -> each.getValue() == tensor.type().dtype())
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow(() -> new TorchAneException("NumPy has no type for elements of "
                        + tensor.type().dtype().mil()));
        String shape = tensor.type().shape().stream().map(size -> size + ",").collect(Collectors.joining(" "));
        String header = "{'descr': '" + code + "', 'fortran_order': False, 'shape': (" + shape + "), }";
        int padded = (10 + header.length() + 1 + 63) / 64 * 64 - 10;
        out.write(MAGIC);
        out.write(new byte[] {1, 0, (byte) padded, (byte) (padded >> 8)});
        out.write(header.getBytes(StandardCharsets.ISO_8859_1));
        out.write(" ".repeat(padded - header.length() - 1).getBytes(StandardCharsets.ISO_8859_1));
        out.write('\n');
        out.write(tensor.data().asSlice(0, tensor.type().bytes()).toArray(ValueLayout.JAVA_BYTE));
    }
}
