package dev.torchane.engine.coreml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.MilFile;
import dev.torchane.program.OperationTable;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.testing.OperationSample;
import dev.torchane.testing.OperationSamples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every operation of the table in a package, as coremltools reads it back. */
class OperationsTest {

    /** Operations whose values coremltools does not compute. */
    private static final Set<String> WITHOUT_VALUES = Set.of(
            "avg_pool",
            "batch_norm",
            "conv",
            "conv_transpose",
            "depth_to_space",
            "instance_norm",
            "l2_pool",
            "max_pool",
            "one_hot",
            "pixel_shuffle",
            "pixel_unshuffle",
            "silu",
            "space_to_depth",
            "upsample_bilinear",
            "upsample_nearest_neighbor");

    /** Samples that no lowering makes and the jvm engine does not run: there is nothing to compare their values with. */
    private static final Set<String> NOT_ON_JVM = Set.of(
            "constexpr_sparse_to_dense",
            "einsum",
            "gather_nd",
            "linear_computed",
            "local_response_norm",
            "resize",
            "resize_bilinear",
            "resize_nearest_neighbor",
            "scatter",
            "scatter_nd");

    /** Samples whose values coremltools 9.0 computes wrongly: it fails at {@code exclusive}, and takes every mode for an update. */
    private static final Set<String> WRONG_VALUES = Set.of("cumsum_exclusive", "scatter_along_axis_add");

    /** Operations that have no form before an operation set. */
    private static final Map<String, CoreMlOpset> SINCE =
            Map.of("resize", CoreMlOpset.IOS17, "constexpr_sparse_to_dense", CoreMlOpset.IOS18);

    @TempDir
    Path folder;

    @Test
    void everyOperationOfTheTableHasASample() {
        Set<String> sampled = new TreeSet<>(OperationSamples.WITHOUT);
        OperationSamples.all().forEach(sample -> sampled.add(sample.kind()));
        assertEquals(new TreeSet<>(OperationTable.all().keySet()), sampled);
    }

    @ParameterizedTest
    @EnumSource(CoreMlOpset.class)
    @Tag("full")
    void coremltoolsReadsEveryOperationWithTheSameTypes(CoreMlOpset opset) throws IOException, InterruptedException {
        for (OperationSample sample : samples(opset)) {
            ProgramBuilder program = ProgramBuilder.create();
            sample.function(program);
            write(sample, program, opset);
        }
        JsonNode read = CoreMlTools.read(folder);
        List<String> wrong = new ArrayList<>();
        for (OperationSample sample : samples(opset)) {
            JsonNode node = read.get(sample.name());
            if (node.has("error")) {
                wrong.add(sample + ": " + node.get("error").asText());
            }
        }
        assertEquals(List.of(), wrong);
    }

    @ParameterizedTest
    @EnumSource(CoreMlOpset.class)
    @Tag("full")
    void coremltoolsComputesTheSameNumbers(CoreMlOpset opset) throws IOException, InterruptedException {
        ProgramBuilder all = ProgramBuilder.create();
        for (OperationSample sample : samples(opset)) {
            ProgramBuilder program = ProgramBuilder.create();
            sample.constant(program);
            write(sample, program, opset);
            sample.function(all);
        }
        JsonNode read = CoreMlTools.read(folder);
        Path bundle = Files.createDirectories(folder.resolve("all.bundle"));
        MilFile.writeBundle(bundle, "cpu", weights -> all.build());
        List<String> wrong = new ArrayList<>();
        Set<String> withoutValues = new TreeSet<>();
        Set<String> notOnJvm = new TreeSet<>();
        try (Bundle opened = Bundle.open(bundle);
                LoadedProgram loaded = Engine.named("jvm")
                        .load(opened, EngineOptions.defaults().withVector(false))) {
            for (OperationSample sample : samples(opset)) {
                JsonNode node = read.get(sample.name());
                if (node.has("error") || WRONG_VALUES.contains(sample.name().replace("_fp16", ""))) {
                    if (!WRONG_VALUES.contains(sample.name().replace("_fp16", ""))) {
                        wrong.add(sample + ": " + node.get("error").asText());
                    }
                    continue;
                }
                run(loaded, sample)
                        .ifPresentOrElse(
                                outputs -> outputs.forEach((output, tensor) -> {
                                    JsonNode values =
                                            node.at("/functions/main/values").get(output);
                                    if (values == null) {
                                        withoutValues.add(sample.kind());
                                    } else {
                                        compare(sample + "." + output, tensor, values, tolerance(sample, opset), wrong);
                                    }
                                }),
                                () -> notOnJvm.add(sample.name().replace("_fp16", "")));
            }
        }
        assertEquals(List.of(), wrong);
        notOnJvm.removeAll(NOT_ON_JVM);
        assertEquals(Set.of(), notOnJvm);
        assertEquals(WITHOUT_VALUES, withoutValues);
    }

    /** What an operation set has. */
    private static List<OperationSample> samples(CoreMlOpset opset) {
        return OperationSamples.all().stream()
                .flatMap(sample -> sample.hasFloats() ? Stream.of(sample, sample.half()) : Stream.of(sample))
                .filter(sample -> opset.atLeast(SINCE.getOrDefault(sample.kind(), CoreMlOpset.IOS16)))
                .toList();
    }

    @Test
    void whatAnOperationSetDoesNotHaveIsRefusedByName() {
        for (OperationSample sample : OperationSamples.all()) {
            if (SINCE.containsKey(sample.kind())) {
                ProgramBuilder program = ProgramBuilder.create();
                sample.function(program);
                TorchAneException refused =
                        assertThrows(TorchAneException.class, () -> write(sample, program, CoreMlOpset.IOS16));
                assertTrue(refused.getMessage().contains(sample.kind() + " 'y"), refused.getMessage());
                assertTrue(refused.getMessage().contains("needs " + SINCE.get(sample.kind())), refused.getMessage());
            }
        }
    }

    /** What the jvm engine gives, if it has the operation in this form. */
    private static Optional<Map<String, Tensor>> run(LoadedProgram loaded, OperationSample sample) {
        try {
            LoadedFunction function = loaded.function(sample.name());
            try (State state = function.newState()) {
                return Optional.of(function.run(sample.inputs(), state));
            }
        } catch (TorchAneException e) {
            return Optional.empty();
        }
    }

    /** coremltools rounds after every step in fp16; older operation sets keep in fp16 what they cannot keep compressed. */
    private static double tolerance(OperationSample sample, CoreMlOpset opset) {
        if (sample.name().endsWith("_fp16")) {
            return 1e-2;
        }
        return opset != CoreMlOpset.IOS18 && sample.kind().startsWith("constexpr_") ? 1e-3 : 1e-5;
    }

    private static void compare(String what, Tensor expected, JsonNode values, double tolerance, List<String> wrong) {
        if (values.size() != expected.type().elements()) {
            wrong.add(what + ": " + values.size() + " values for " + expected.type());
            return;
        }
        for (int i = 0; i < values.size(); i++) {
            double number = expected.get(i);
            double found = values.get(i).asDouble();
            if (!(Math.abs(found - number) <= tolerance * Math.max(1, Math.abs(number)))) {
                wrong.add(what + "[" + i + "]: " + number + ", coremltools " + found);
                return;
            }
        }
    }

    private void write(OperationSample sample, ProgramBuilder program, CoreMlOpset opset) {
        // Function names are free in a program of several; one alone is called as a model's only function.
        Function only = program.build().functions().getFirst();
        dev.torchane.program.Program main = new dev.torchane.program.Program(
                ProgramBuilder.VERSION,
                Map.of(),
                List.of(new Function("main", only.opset(), only.inputs(), only.operations(), only.outputs())));
        CoreMlPackage.write(
                main,
                OperationsTest::noBlobs,
                Map.of(),
                folder.resolve(sample.name() + CoreMlPackage.SUFFIX),
                CoreMlOptions.defaults().withOpset(opset));
    }

    private static java.lang.foreign.MemorySegment noBlobs(Literal.Blob blob) {
        throw new AssertionError("a sample has no weight file: " + blob);
    }
}
