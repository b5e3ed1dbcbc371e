package dev.torchane.engine.chunks;

import dev.torchane.build.ChunkLimits;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.testing.LlamaFunctions;
import dev.torchane.testing.TinyTokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A random model of three layers twice: as one program, and as a chunk for each layer and two halves of the head. */
record TinyChunks(Path whole, Path chunks) {

    private static final int LAYERS = 3;
    private static final int HIDDEN = 32;
    private static final int DIM = 8;
    private static final int VOCAB = TinyTokenizer.SIZE;
    private static final List<Integer> LADDER = List.of(32, 64);
    private static final String SHAPE = """
            {
              "format": 1, "kind": "%s", "target": "cpu", "options": {},
              "source": {"name": "tiny", "digest": "sha256:00"}, "versions": {},
              "model": {
                "architecture": "Tiny", "vocab": %d, "hidden": %d, "layers": %d, "heads": 4, "kvHeads": 2, "headDim": %d,
                "maxPosition": 64, "maxLen": 64, "prefillWindow": 16, "decodeWindow": 8, "ladder": %s,
                "slidingWindow": 0, "eos": [2], "bos": 1
              },
              "rope": {
                "global": {"dim": 8, "inverseFrequencies": [1.0, 0.1, 0.01, 0.001], "attentionScaling": 1}, "local": null
              },
              "embedding": {"rows": %d, "columns": %d, "encoding": "fp32", "data": %d, "scale": null, "multiplier": 1.0},
              "rowAxes": {"emb": 1, "cos": 1, "sin": 1, "mask": 2, "pick": 1},
              "weights": %s, "build": {"seconds": {}}
            }
            """;

    private interface Functions {
        void add(LlamaFunctions functions, ProgramBuilder builder, String name, int rows, int columns);
    }

    private static final Functions NONE = (_, _, _, _, _) -> {};

    static TinyChunks write(Path folder) {
        Path whole = folder.resolve("whole");
        bundle(whole, "causal-lm", 0, (functions, builder, name, rows, columns) -> {
            if (name.startsWith("batch")) {
                functions.batch(builder, name, rows, columns);
            } else {
                functions.window(builder, name, rows, columns);
            }
        });
        Path chunks = folder.resolve("chunked");
        bundle(chunks, "causal-lm", 0, NONE);
        List<ChunkIndex.Part> layers = new ArrayList<>();
        for (int i = 0; i < LAYERS; i++) {
            int layer = i;
            String path = "chunks/%02d".formatted(i);
            bundle(
                    chunks.resolve(path),
                    "module",
                    0,
                    (functions, builder, name, rows, columns) ->
                            functions.chunk(builder, name, rows, columns, layer, 1));
            layers.add(new ChunkIndex.Part(path, i, 1, 40_000, 100));
        }
        List<ChunkIndex.Part> heads = new ArrayList<>();
        int[] rowsOfHead = {200, VOCAB - 200};
        int first = 0;
        for (int count : rowsOfHead) {
            String path = "head/%02d".formatted(heads.size());
            bundle(
                    chunks.resolve(path),
                    "module",
                    first,
                    (functions, builder, name, rows, _) ->
                            functions.head(builder, name, rows, count, !name.startsWith("batch")));
            heads.add(new ChunkIndex.Part(path, first, count, 40_000, 20));
            first += count;
        }
        try {
            Files.writeString(
                    chunks.resolve(ChunkIndex.FILE), new ChunkIndex(ChunkLimits.defaults(), layers, heads).text());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new TinyChunks(whole, chunks);
    }

    private static void bundle(Path directory, String kind, int firstRow, Functions added) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try (BundleWriter writer = BundleWriter.create(directory)) {
            Map<String, Long> offsets = new HashMap<>();
            LlamaFunctions functions = new LlamaFunctions(
                    LAYERS,
                    HIDDEN,
                    4,
                    2,
                    DIM,
                    48,
                    VOCAB,
                    1e-5,
                    DType.FP32,
                    (f, name, shape) -> weight(writer, offsets, firstRow, f, name, shape));
            ProgramBuilder builder = ProgramBuilder.create();
            for (int rung : LADDER) {
                added.add(functions, builder, "prefill_" + rung, 16, rung);
                added.add(functions, builder, "decode_" + rung, 8, rung);
                added.add(functions, builder, "batch_" + rung, 8, rung);
            }
            long table = append(writer, "embedding", 0, VOCAB, HIDDEN);
            Program program = added == NONE ? new Program("1.3", Map.of(), List.of()) : builder.build();
            writer.program(program);
            TinyTokenizer.write(directory);
            boolean model = kind.equals("causal-lm");
            String axes = SHAPE.formatted(kind, VOCAB, HIDDEN, LAYERS, DIM, LADDER, VOCAB, HIDDEN, table, "[]");
            writer.manifest(model ? axes : withAxesOf(axes, program));
            writer.finish();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String withAxesOf(String manifest, Program program) {
        String text = manifest;
        List<String> names = program.functions().stream()
                .flatMap(function -> function.tensors().stream())
                .map(Value::name)
                .toList();
        for (String name : List.of("pick", "cos", "sin", "mask")) {
            if (!names.contains(name)) {
                text = text.replaceFirst(", \"" + name + "\": [12]", "");
            }
        }
        return text;
    }

    private static Value weight(
            BundleWriter writer, Map<String, Long> offsets, int firstRow, FunctionBuilder f, String name, int[] shape) {
        TensorType type = TensorType.of(DType.FP32, shape);
        int rows = shape.length == 1 ? 1 : shape[0];
        int from = name.equals("head") ? firstRow : 0;
        long offset = offsets.computeIfAbsent(name, each -> append(writer, each, from, rows, shape[shape.length - 1]));
        return f.constant("w_" + name, BundleWriter.blob(type, offset));
    }

    /** Rows of a weight that is the same in every bundle. */
    private static long append(BundleWriter writer, String name, int first, int rows, int columns) {
        float[] values = new float[rows * columns];
        for (int row = 0; row < rows; row++) {
            Random random = new Random(31L * name.hashCode() + first + row);
            for (int column = 0; column < columns; column++) {
                values[row * columns + column] = (float) (0.4 * random.nextGaussian());
            }
        }
        boolean vector = rows == 1 && !name.equals("embedding");
        TensorType type = vector ? TensorType.of(DType.FP32, columns) : TensorType.of(DType.FP32, rows, columns);
        return writer.weights().append(type, MemorySegment.ofArray(values));
    }
}
