package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.WeightEncoding;
import dev.torchane.cache.ModelCache;
import dev.torchane.engine.chunks.ChunkIndex;
import dev.torchane.program.Bundle;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.Manifest;
import dev.torchane.program.Program;
import dev.torchane.program.TensorType;
import dev.torchane.weights.Checkpoint;
import dev.torchane.weights.WeightTensor;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Writes the programs of a model in chunks, each from the checkpoint's mapped tensors, one tensor after another. */
final class ChunkWriter {

    private final Checkpoint checkpoint;
    private final BuildOptions options;
    private final String digest;
    private final Map<String, Integer> rowAxes;
    private final Stages stages;

    /**
     * @param digest of the checkpoint
     * @param rowAxes of all inputs that a program of this model may have
     */
    ChunkWriter(
            Checkpoint checkpoint, BuildOptions options, String digest, Map<String, Integer> rowAxes, Stages stages) {
        this.checkpoint = checkpoint;
        this.options = options;
        this.digest = digest;
        this.rowAxes = rowAxes;
        this.stages = stages;
    }

    /**
     * A bundle of some layers, or some rows of the head, written unless it is there. It is whole or absent.
     *
     * @param bundle where it is to be
     * @param name the checkpoint's weight in the place of one of the template's
     * @param rows of the matrices whose role is the head; all where there are none
     */
    ChunkIndex.Part write(
            Path bundle, String path, ChunkPlanner.Span span, ChunkTemplate template, UnaryOperator<String> name) {
        ModelCache.install(bundle, directory -> fill(directory, span, template, name));
        try (Bundle whole = Bundle.open(bundle)) {
            long bytes = whole.manifest().weights().stream()
                    .mapToLong(Manifest.Weight::bytes)
                    .sum();
            return new ChunkIndex.Part(path, span.first(), span.count(), bytes, operations(whole));
        }
    }

    private static int operations(Bundle bundle) {
        return bundle.functionNames().stream()
                .mapToInt(name -> bundle.function(name).operations().size())
                .max()
                .orElse(0);
    }

    private void fill(Path directory, ChunkPlanner.Span span, ChunkTemplate template, UnaryOperator<String> name) {
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            WeightStore weights = store(bundle);
            for (String each : template.names()) {
                ChunkTemplate.Described described = template.weights().get(name.apply(each));
                put(weights, described, described.role().equals("head") ? Optional.of(span) : Optional.empty());
            }
            Program program = template.bind(weights, name);
            bundle.program(program);
            Set<String> inputs = program.functions().stream()
                    .flatMap(function -> function.tensors().stream())
                    .map(input -> input.name())
                    .collect(Collectors.toSet());
            bundle.manifest(manifest(Manifest.MODULE, weights)
                    .rowAxes(rowAxes, inputs)
                    .build(Map.of("weights", weights.seconds()), stages.nothing())
                    .text());
            bundle.finish();
        }
    }

    ManifestText manifest(String kind, WeightStore weights) {
        return new ManifestText(kind, options.target(), options.asText())
                .source(checkpoint.path().getFileName().toString(), digest)
                .versions(Versions.all())
                .weights(weights);
    }

    WeightStore store(BundleWriter bundle) {
        return new WeightStore(
                (type, data) -> BundleWriter.blob(type, bundle.weights().append(type, data)),
                options,
                StoredBlocks.NONE);
    }

    /** Encodes one weight into a store, and lets go of the pages of the checkpoint that it came from. */
    void put(WeightStore weights, ChunkTemplate.Described described, Optional<ChunkPlanner.Span> span) {
        WeightTensor tensor = checkpoint.tensor(described.source());
        int all = described.template().rank() < 2 ? 1 : Math.toIntExact(tensor.rows());
        int columns = Math.toIntExact(tensor.elements() / all);
        int first = span.map(ChunkPlanner.Span::first).orElse(0);
        int rows = span.map(ChunkPlanner.Span::count).orElse(all);
        requireShape(tensor, described);
        List<Integer> shape = described.template().rank() < 2 ? List.of(columns) : List.of(rows, columns);
        WeightRows source =
                WeightRows.of(described.name(), tensor, first, rows, columns, described.factor(), described.offset());
        boolean whole = tensor.columns() == columns && !described.isChanged();
        StoredBlocks blocks = (_, arena) -> blocks(tensor, first, rows, whole, arena);
        weights.put(source, new TensorType(DType.FP32, shape), described.role(), blocks);
        tensor.data().unload();
        stages.done(source.elements());
    }

    private static Optional<EncodedWeight> blocks(
            WeightTensor tensor, int first, int rows, boolean whole, Arena arena) {
        return tensor.type().isBlocked() && whole
                ? Optional.of(StoredBlocks.blocks(tensor, first, rows, arena))
                : Optional.empty();
    }

    /** What a template is smaller in may be anything; its number of axes and what every layer has in common may not. */
    private void requireShape(WeightTensor tensor, ChunkTemplate.Described described) {
        TensorType template = described.template();
        if (tensor.shape().size() != template.rank()) {
            throw new TorchAneException("tensor '" + tensor.name() + "' of " + checkpoint.path() + " has the shape "
                    + tensor.shape() + "; the model's has " + template.rank() + " axes");
        }
    }

    /** Bytes that a weight takes as it will be stored, scales included. */
    long bytes(ChunkTemplate.Described described) {
        WeightTensor tensor = checkpoint.tensor(described.source());
        long elements = tensor.elements();
        boolean matrix = described.template().rank() == 2 && !described.role().equals("other");
        if (!matrix) {
            return elements * options.precision().bits() / 8;
        }
        WeightEncoding encoding = described.role().equals("linear")
                ? options.weights()
                : options.weights().ofTables();
        if (encoding == WeightEncoding.STORED) {
            if (tensor.type().isBlocked() && !described.isChanged()) {
                return tensor.type().bytes(elements);
            }
            encoding = WeightEncoding.INT8;
        }
        long table = encoding.isPalette()
                ? Math.ceilDiv(tensor.rows(), encoding.group()) << encoding.bits()
                : encoding.group() > 0
                        ? elements / encoding.group()
                        : encoding == WeightEncoding.INT8 ? tensor.rows() : 0;
        return elements * encoding.bits() / 8 + table * options.precision().bits() / 8;
    }
}
