package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.Numerics;
import dev.torchane.program.Bundle;
import dev.torchane.program.Manifest;
import dev.torchane.testing.TinyModel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A GGUF file, with its rows paired (llama) or not (qwen2), is the model of the directory it was made from, bit for bit. */
class GgufLogitsTest {

    private static final List<int[]> PROMPTS = List.of(new int[] {5}, new int[] {7, 200, 3, 41, 150, 9, 9, 100, 64});

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(names = {"LLAMA", "QWEN2"})
    void logitsAreThoseOfTheDirectory(TinyModel.Architecture architecture) {
        TinyModel model = TinyModel.of(architecture, 11);
        List<float[]> expected = TinyBundles.eager(model.writeHuggingFace(folder.resolve("hf")), PROMPTS);
        List<float[]> actual = TinyBundles.eager(model.writeGguf(folder.resolve("model.gguf")), PROMPTS);

        for (int i = 0; i < PROMPTS.size(); i++) {
            assertArrayEquals(expected.get(i), actual.get(i));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LLAMA", "QWEN2"})
    void itsBlocksAreKept(TinyModel.Architecture architecture) {
        Path file = TinyModel.of(architecture, 12).writeGgufOfBlocks(folder.resolve("blocks.gguf"));
        Path kept = TinyBundles.export(file, TinyBundles.FP32.withWeights(WeightEncoding.STORED), folder);
        Path values = TinyBundles.export(file, TinyBundles.FP32, folder);

        try (Bundle bundle = Bundle.open(kept)) {
            for (Manifest.Weight weight : bundle.manifest().weights()) {
                if (weight.shape().size() == 2 && weight.shape().getLast() % 32 == 0) {
                    assertEquals("q8_0", weight.encoding(), weight.name());
                    assertEquals(0, weight.maxError(), weight.name());
                } else {
                    assertEquals(weight.shape().size() == 2 ? "int8" : "fp32", weight.encoding(), weight.name());
                }
            }
        }
        List<float[]> expected = TinyBundles.run(values, Numerics.FP32, PROMPTS);
        List<float[]> actual = TinyBundles.run(kept, Numerics.FP32, PROMPTS);
        for (int i = 0; i < PROMPTS.size(); i++) {
            // Most matrices have 80 columns, no whole blocks, and became int8; RealModelLogitsTest holds exact blocks.
            assertArrayEquals(expected.get(i), actual.get(i), 0.1f);
        }
    }
}
