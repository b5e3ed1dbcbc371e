package dev.torchane.program;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A file of MIL text and the weight files it names, as Core ML or a person wrote them, and the bundle they become. Paths of
 * weights begin with {@code @model_path}, the folder of the text; they may go up ({@code ../}) but never leave the folder of
 * weights.
 */
public final class MilFile {

    private static final String MODEL_PATH = "@model_path/";
    private static final JsonFactory JSON = new JsonFactory();

    private final Path file;
    private final Path base;
    private final Path weights;
    private final MilDocument document;

    private MilFile(Path file, Path base, Path weights, MilDocument document) {
        this.file = file;
        this.base = base;
        this.weights = weights;
        this.document = document;
    }

    /** A file whose weights lie in its own folder. */
    public static MilFile open(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        return open(file, folder);
    }

    /**
     * A file and the folder below which its weights lie. Where the text itself lies below that folder, {@code @model_path} is the
     * text's folder; otherwise it is the folder of weights, and steps up that would leave it are left out.
     *
     * @throws TorchAneException when the file is missing or its frame is malformed, or the folder is none
     */
    public static MilFile open(Path file, Path weights) {
        if (!Files.isDirectory(weights)) {
            throw new TorchAneException(weights + ", given as the folder of weights, is no directory");
        }
        Path root = weights.toAbsolutePath().normalize();
        Path folder = file.toAbsolutePath().normalize().getParent();
        return new MilFile(file, folder.startsWith(root) ? folder : root, root, MilText.open(file));
    }

    /** Where the text lies. */
    public Path file() {
        return file;
    }

    /** The text. */
    public MilDocument document() {
        return document;
    }

    /**
     * The program: every function, with its default shapes where shapes are open, and after it one function for each further set
     * of shapes that the text enumerates, named as {@code main_1}, {@code main_2}, ….
     *
     * @throws MilSyntaxException when something cannot run; names where it stands
     * @throws TorchAneException when an operation does not fit the table of operations
     */
    public Program program() {
        Set<String> names = new TreeSet<>(document.functionNames());
        List<Function> functions = new ArrayList<>();
        for (String name : document.functionNames()) {
            Function function = document.function(name);
            functions.add(function);
            int number = 1;
            for (Map<String, List<Integer>> shapes :
                    document.survey(name).shapes().enumerated().values()) {
                Function variant = document.function(name, shapes);
                if (!variant.inputs().equals(function.inputs())) {
                    while (!names.add(name + "_" + number)) {
                        number++;
                    }
                    functions.add(new Function(
                            name + "_" + number,
                            variant.opset(),
                            variant.inputs(),
                            variant.operations(),
                            variant.outputs()));
                }
            }
        }
        functions.forEach(function -> FunctionCheck.verify(file.toString(), function));
        return new Program(document.version(), document.buildInfo(), functions);
    }

    /**
     * The weight file that a path of the text names.
     *
     * @throws TorchAneException when it leads out of the folder of weights
     */
    public Path weightFile(String path) {
        String below = path.startsWith(MODEL_PATH) ? path.substring(MODEL_PATH.length()) : path;
        try {
            Path relative = Path.of(below);
            Path found = base.resolve(relative).normalize();
            if (!found.startsWith(weights) && !relative.isAbsolute() && base.equals(weights) && !ownFolder()) {
                found = weights.resolve(withoutSteps(relative)).normalize();
            }
            boolean inside = !relative.isAbsolute() && found.startsWith(weights);
            if (inside && Files.exists(found)) {
                inside = found.toRealPath().startsWith(weights.toRealPath());
            }
            if (!inside) {
                throw new TorchAneException(file + " names weights in '" + path + "', which is not below " + weights
                        + "; give the folder that holds them all with --weights");
            }
            return found;
        } catch (InvalidPathException | IOException e) {
            throw new TorchAneException(
                    file + " names weights in '" + path + "', which is no path: " + e.getMessage(), e);
        }
    }

    private boolean ownFolder() {
        return file.toAbsolutePath().normalize().getParent().equals(weights);
    }

    private static Path withoutSteps(Path path) {
        Path kept = Path.of("");
        for (Path part : path) {
            if (!part.toString().equals("..")) {
                kept = kept.resolve(part);
            }
        }
        return kept;
    }

    /**
     * Writes a bundle into an empty directory: the program, and every blob it names in one weight file.
     *
     * @param target hardware the program is said to be shaped for: {@code cpu}, {@code gpu}, {@code ane}
     * @throws TorchAneException when something cannot run, or a weight is missing or of another type
     */
    public void writeBundle(Path directory, String target) {
        Program program = program();
        Map<String, WeightFile> opened = new HashMap<>();
        Map<Literal.Blob, Literal.Blob> moved = new LinkedHashMap<>();
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            bundle.program(program.withBlobs(blob -> moved.computeIfAbsent(blob, each -> {
                WeightFile source = opened.computeIfAbsent(each.path(), path -> WeightFile.open(weightFile(path)));
                return BundleWriter.blob(
                        each.type(), bundle.weights().append(each.type(), source.data(each.offset(), each.type())));
            })));
            bundle.manifest(manifest(target, moved));
            bundle.finish();
        } finally {
            opened.values().forEach(WeightFile::close);
        }
    }

    /**
     * Writes a bundle of a program that is made in Java.
     *
     * @param maker appends large constants to the weight file it is given, and answers the program that names them with
     *     {@link BundleWriter#blob}
     * @throws TorchAneException when program and weights do not belong together, or cannot be written
     */
    public static void writeBundle(
            Path directory, String target, java.util.function.Function<WeightFileWriter, Program> maker) {
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            Program program = maker.apply(bundle.weights());
            bundle.program(program);
            bundle.manifest(manifest("program", digest(MilText.write(program)), target, Map.of()));
            bundle.finish();
        }
    }

    private String manifest(String target, Map<Literal.Blob, Literal.Blob> moved) {
        try {
            return manifest(file.getFileName().toString(), digest(Files.readString(file)), target, moved);
        } catch (IOException e) {
            throw new TorchAneException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private static String digest(String text) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return "sha256:" + HexFormat.of().formatHex(sum);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static String manifest(String source, String digest, String target, Map<Literal.Blob, Literal.Blob> moved) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            json.writeStartObject();
            json.writeNumberField("format", Manifest.FORMAT);
            json.writeStringField("kind", Manifest.MODULE);
            json.writeStringField("target", target);
            json.writeObjectFieldStart("options");
            json.writeEndObject();
            json.writeObjectFieldStart("source");
            json.writeStringField("name", source);
            json.writeStringField("digest", digest);
            json.writeEndObject();
            json.writeObjectFieldStart("versions");
            json.writeEndObject();
            json.writeObjectFieldStart("rowAxes");
            json.writeEndObject();
            json.writeArrayFieldStart("weights");
            for (Literal.Blob blob : moved.keySet()) {
                json.writeStartObject();
                json.writeStringField("name", blob.path() + ":" + blob.offset());
                json.writeArrayFieldStart("shape");
                for (int size : blob.type().shape()) {
                    json.writeNumber(size);
                }
                json.writeEndArray();
                json.writeStringField("encoding", blob.type().dtype().mil());
                json.writeNumberField("bytes", blob.type().bytes());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }
}
