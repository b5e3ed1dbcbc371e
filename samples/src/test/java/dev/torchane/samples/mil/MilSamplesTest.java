package dev.torchane.samples.mil;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.MilProgram;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.engine.Tensor;
import dev.torchane.program.AneRules;
import dev.torchane.program.MilFile;
import dev.torchane.program.Program;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hand-written kernels, rounded as fp16 hardware rounds, against double precision. */
class MilSamplesTest {

    private static void assertClose(Numbers.Difference difference, double mean, double largest) {
        assertTrue(difference.mean() <= mean && difference.largest() <= largest, difference.toString());
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.05, 1, 30, 1000, 10_000})
    void theScaledNormIsExactForRowsOfEverySizeThatFp16Holds(double size) {
        double scale = Math.scalb(1, -Math.getExponent(size));
        assertClose(ScaledRmsNorm.run(size, scale), 1e-5, 1e-4);
        assertClose(ScaledRmsNorm.run(size, scale / 16), 1e-5, 1e-4);
        assertClose(ScaledRmsNorm.run(size, scale * 16), 1e-5, 1e-4);
    }

    @Test
    void withoutItsScaleTheNormOverflows() {
        assertTrue(ScaledRmsNorm.run(1000, 1).mean() > 1e-3);
    }

    @Test
    void cachesAreUpdatedAsByACopy() {
        assertEquals(new Numbers.Difference(0, 0), KvUpdate.run(7, 1));
        assertEquals(new Numbers.Difference(0, 0), KvUpdate.run(63, 1));
        assertEquals(new Numbers.Difference(0, 0), KvUpdate.run(24, 8));
    }

    @Test
    void attentionIsAChainOfProducts() {
        assertClose(MatmulAttention.run(), 5e-4, 5e-3);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2048, 30_000})
    void rotationsAreExactHoweverLateInAContext(int position) {
        assertClose(Rope.run(position), 5e-4, 5e-3);
    }

    @Test
    void theGatedMlp() {
        assertClose(SwiGlu.run(), 5e-4, 5e-3);
    }

    @Test
    void aLayerInFourCallsGivesTheBitsOfOneCall() {
        SplitLayer.Shape shape = new SplitLayer.Shape(64, 4, 2, 32, 128, 32);
        EngineOptions options = EngineOptions.defaults().withNumerics(Numerics.DECLARED);
        try (SplitLayer layer = new SplitLayer(shape, options)) {
            float[] fused = layer.run(SplitLayer.Way.FUSED, 3, 5).toFloats();
            assertArrayEquals(fused, layer.run(SplitLayer.Way.WAITING, 3, 5).toFloats());
            assertArrayEquals(fused, layer.run(SplitLayer.Way.CHAINED, 3, 5).toFloats());
            assertTrue(fused[0] != 0 && Float.isFinite(fused[0]));
        }
    }

    @Test
    void theKernelsBreakNoRuleOfTheDirectWayButForSeveralFunctions() {
        for (Program program : List.of(
                ScaledRmsNorm.program(16, 1024, 1e-6, 0.125),
                KvUpdate.program(2, 64, 32, 8),
                MatmulAttention.program(8, 2, 8, 64, 64),
                Rope.program(4, 8, 128),
                SwiGlu.program(4, 128, 256))) {
            List<AneRules.Finding> findings = AneRules.check(program, AneRules.Profile.DIRECT_ANE).stream()
                    .filter(finding -> !finding.rule().id().equals("several-functions"))
                    .toList();
            assertEquals(List.of(), findings);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rms_norm", "kv_update", "swiglu"})
    void theSamplesInTextRunAndBreakNoRule(String name) {
        MilFile file = MilFile.open(Path.of("mil", name + ".mil"));
        for (String function : file.document().functionNames()) {
            assertEquals(
                    List.of(), AneRules.check(file.document().survey(function), AneRules.Profile.DIRECT_ANE), function);
        }
        EngineOptions options = EngineOptions.defaults().withNumerics(Numerics.DECLARED);
        try (MilProgram program = MilProgram.of(file, "jvm", options)) {
            for (String function : program.functions()) {
                Map<String, Tensor> inputs = new LinkedHashMap<>();
                program.function(function)
                        .tensors()
                        .forEach(input -> inputs.put(input.name(), Tensor.allocate(input.type())));
                program.run(function, inputs).values().forEach(result -> assertEquals(0, result.get(0)));
            }
        }
    }
}
