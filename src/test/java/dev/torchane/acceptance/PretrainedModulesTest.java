package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CompileOptions;
import dev.torchane.CompiledModule;
import dev.torchane.TorchAne;
import dev.torchane.Validation;
import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleSource;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Classes of transformers and diffusers with a directory, as {@code save_pretrained} writes it, against torch. */
class PretrainedModulesTest {

    private static final String SOURCE = """
            import torch


            def unet(directory):
                from diffusers import UNet2DConditionModel

                torch.manual_seed(3)
                model = UNet2DConditionModel(
                    sample_size=8,
                    block_out_channels=(8, 16),
                    layers_per_block=1,
                    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
                    cross_attention_dim=12,
                    attention_head_dim=4,
                    norm_num_groups=4,
                )
                model.save_pretrained(directory)
                return model


            def bert(directory):
                from transformers import BertConfig, BertModel

                torch.manual_seed(3)
                sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
                model = BertModel(BertConfig(vocab_size=99, **sizes))
                model.save_pretrained(directory)
                return model
            """;

    @TempDir
    static Path folder;

    @BeforeAll
    static void writeTheUsersCode() throws IOException {
        Files.writeString(Files.createDirectories(folder.resolve("code")).resolve("models.py"), SOURCE);
    }

    private static CompiledModule compiled(ModuleSource source, ModuleInputs inputs) {
        return TorchAne.compile(
                source,
                List.of(inputs),
                CompileOptions.builder().cache(folder.resolve("cache")).build());
    }

    private static ModuleSource made(String callable, Path directory) {
        return ModuleSource.factory(folder.resolve("code"), "models:" + callable)
                .withArguments(Map.of("directory", directory.toString()));
    }

    private static void assertIsTorchs(CompiledModule module) {
        Validation validation = module.validate();
        assertTrue(validation.worst() < 1e-5, validation.toString());
    }

    @Test
    void aUNetOfDiffusers() {
        ModuleInputs inputs = ModuleInputs.of("sample", TensorType.of(DType.FP32, 2, 4, 8, 8))
                .and("timestep", TensorType.of(DType.FP32, 1))
                .and("encoder_hidden_states", TensorType.of(DType.FP32, 2, 5, 12));
        Path saved = folder.resolve("unet");
        Map<String, Tensor> given = Map.of(
                "sample", Tensor.allocate(inputs.types().get("sample")),
                "timestep", Tensor.of(TensorType.of(DType.FP32, 1), 481),
                "encoder_hidden_states", Tensor.allocate(inputs.types().get("encoder_hidden_states")));
        try (CompiledModule first = compiled(made("unet", saved), inputs);
                CompiledModule second = compiled(ModuleSource.diffusers("UNet2DConditionModel", saved), inputs)) {
            assertEquals(Map.of("sample_out", TensorType.of(DType.FP32, 2, 4, 8, 8)), second.outputs());
            assertIsTorchs(second);
            assertArrayEquals(
                    first.run(given).get("sample_out").toFloats(),
                    second.run(given).get("sample_out").toFloats());
        }
    }

    @Test
    void aBertOfTransformersForTwoLengths() {
        ModuleInputs eight = ModuleInputs.of("input_ids", TensorType.of(DType.INT32, 1, 8))
                .and("attention_mask", TensorType.of(DType.INT32, 1, 8));
        ModuleInputs sixteen = ModuleInputs.of("input_ids", TensorType.of(DType.INT32, 1, 16))
                .and("attention_mask", TensorType.of(DType.INT32, 1, 16));
        Path saved = folder.resolve("bert");
        compiled(made("bert", saved), eight).close();
        try (CompiledModule module = TorchAne.compile(
                ModuleSource.transformers("BertModel", saved),
                List.of(eight, sixteen),
                CompileOptions.builder().cache(folder.resolve("cache")).build())) {
            assertEquals(List.of(eight.types(), sixteen.types()), module.shapes());
            assertIsTorchs(module);
            float[] ids = new float[16];
            java.util.Arrays.fill(ids, 0, 8, 7);
            Tensor mask = Tensor.of(TensorType.of(DType.INT32, 1, 16), masked(8, 16));
            Tensor longer = Tensor.of(TensorType.of(DType.INT32, 1, 16), ids);
            Validation validation = module.validate(Map.of("input_ids", longer, "attention_mask", mask));
            assertTrue(validation.worst() < 1e-5, validation.toString());
        }
    }

    private static float[] masked(int seen, int all) {
        float[] mask = new float[all];
        java.util.Arrays.fill(mask, 0, seen, 1);
        return mask;
    }
}
