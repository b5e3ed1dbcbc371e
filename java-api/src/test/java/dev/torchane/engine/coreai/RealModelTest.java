package dev.torchane.engine.coreai;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.program.Bundle;
import dev.torchane.testing.OnCoreAi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A built language model, all its functions, on Core AI: {@value #VARIABLE} names the bundle. */
@Tag("full")
@ExtendWith(OnCoreAi.class)
class RealModelTest {

    private static final String VARIABLE = "TORCH_ANE_COREAI_BUNDLE";

    @TempDir
    private Path folder;

    private static Path bundle() {
        String name = System.getenv().getOrDefault(VARIABLE, "");
        assumeTrue(!name.isEmpty(), "set " + VARIABLE + " to a bundle of a small language model to run this test");
        return Path.of(name);
    }

    private static long bytes(Path target) throws IOException {
        try (Stream<Path> files = Files.walk(target)) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }

    @Test
    void allFunctionsShareTheirWeightsInOneModel() throws IOException {
        Path target = folder.resolve("model.aimodel");
        try (Bundle opened = Bundle.open(bundle())) {
            long began = System.nanoTime();
            CoreAiModel.write(opened, target, CoreAiOptions.defaults());
            System.out.println(opened.functionNames() + " as " + (bytes(target) >> 20) + " MB in "
                    + (System.nanoTime() - began) / 1_000_000 + " ms; weights "
                    + (bytes(bundle().resolve("weights")) >> 20)
                    + " MB");
        }
    }

    @Test
    void aStepHasTheSameToken() {
        int[] prompt = {504, 2412, 282, 4649, 314};
        GenerateOptions one = GenerateOptions.defaults().withMaxNewTokens(1).withRaw(true);
        int[] expected;
        try (CausalLM jvm =
                CausalLM.open(bundle(), CausalLMOptions.builder().engine("jvm").build())) {
            expected = jvm.generate(prompt, one).ids();
        }
        long began = System.nanoTime();
        try (CausalLM coreai = CausalLM.open(
                bundle(), CausalLMOptions.builder().engine("coreai").build())) {
            long loaded = System.nanoTime();
            assertArrayEquals(expected, coreai.generate(prompt, one).ids());
            System.out.println("loaded in " + (loaded - began) / 1_000_000 + " ms, a step in "
                    + (System.nanoTime() - loaded) / 1_000_000 + " ms");
        }
    }
}
