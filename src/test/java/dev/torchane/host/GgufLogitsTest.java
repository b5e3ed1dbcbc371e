package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

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
}
