package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.torchane.CompileOptions;
import dev.torchane.CompiledModule;
import dev.torchane.TorchAne;
import dev.torchane.TorchAneException;
import dev.torchane.Validation;
import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleSource;
import dev.torchane.engine.Engine;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Modules of the user's own code, compiled and run through the public API, against torch. */
class CompiledModuleTest {

    private static final String SOURCE = """
            import torch
            from torch import nn


            class Block(nn.Module):
                def __init__(self, channels, out, stride):
                    super().__init__()
                    self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
                    self.bn1 = nn.BatchNorm2d(out)
                    self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
                    self.bn2 = nn.BatchNorm2d(out)
                    self.relu = nn.ReLU(inplace=True)
                    self.down = nn.Conv2d(channels, out, 1, stride)

                def forward(self, x):
                    y = self.relu(self.bn1(self.conv1(x)))
                    y = self.bn2(self.conv2(y))
                    y += self.down(x)
                    return self.relu(y)


            class ResNet(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
                    self.blocks = nn.Sequential(Block(width, width, 1), Block(width, 2 * width, 2))
                    self.head = nn.Linear(2 * width, 10)

                def forward(self, image):
                    features = self.blocks(self.stem(image))
                    return {"logits": self.head(features.mean((2, 3))), "features": features}


            class Classifier(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU())
                    self.head = nn.Linear(8, 5)

                def forward(self, image):
                    features = self.stem(image)
                    return {"logits": self.head(features.mean((2, 3))), "features": features}


            class Fourier(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.mixer = ResNet(4)

                def forward(self, image):
                    return torch.fft.rfft(image).abs()


            def resnet(width):
                torch.manual_seed(1)
                return ResNet(width)


            def fourier():
                return Fourier()
            """;

    private static final TensorType IMAGE = TensorType.of(DType.FP32, 1, 3, 64, 48);
    private static final ModuleInputs INPUTS = ModuleInputs.of("image", IMAGE);

    @TempDir
    static Path folder;

    @BeforeAll
    static void writeTheUsersCode() throws IOException {
        Path code = Files.createDirectories(folder.resolve("code/vision"));
        Files.writeString(code.resolve("models.py"), SOURCE);
    }

    private static ModuleSource resnet() {
        return ModuleSource.factory(folder.resolve("code"), "vision.models:resnet")
                .withArguments(Map.of("width", 8));
    }

    private static CompileOptions options() {
        return CompileOptions.builder().cache(folder.resolve("cache")).build();
    }

    private static CompiledModule compiled() {
        return TorchAne.compile(resnet(), List.of(INPUTS), options());
    }

    private static Tensor image(int seed) {
        Tensor image = Tensor.allocate(IMAGE);
        for (int i = 0; i < IMAGE.elements(); i++) {
            image.set(i, (float) Math.sin(seed + 0.37 * i));
        }
        return image;
    }

    @Test
    void aModuleFromAFactoryGivesTorchsNumbers() {
        try (CompiledModule module = compiled()) {
            assertEquals(Map.of("image", IMAGE), module.inputs());
            assertEquals(
                    List.of("logits", "features"), List.copyOf(module.outputs().keySet()));
            assertEquals(TensorType.of(DType.FP32, 1, 10), module.outputs().get("logits"));

            Validation validation = module.validate();

            assertEquals(module.outputs().keySet(), validation.outputs().keySet());
            assertTrue(validation.worst() < 1e-5, validation.toString());
        }
    }

    @Test
    void overlappingCallsGiveTheBitsOfCallsOneAfterAnother() {
        assumeTrue(Engine.defaultName().equals("jvm"), "bits are the promise of the jvm engine alone");
        try (CompiledModule module = compiled()) {
            List<float[]> alone = new ArrayList<>();
            List<CompletableFuture<Map<String, Tensor>>> together = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                alone.add(module.run(Map.of("image", image(i))).get("logits").toFloats());
            }
            for (int i = 0; i < 6; i++) {
                together.add(module.runAsync(Map.of("image", image(i))));
            }
            for (int i = 0; i < 6; i++) {
                assertArrayEquals(
                        alone.get(i), together.get(i).join().get("logits").toFloats());
            }
        }
    }

    @Test
    void anExportedProgramAndItsClassWithTheSameStateDictAreOne() throws IOException {
        Path program = fixture("classifier.pt2");
        Path weights = fixture("classifier.bin");
        ModuleInputs inputs = ModuleInputs.of("image", TensorType.of(DType.FP32, 1, 3, 12, 10));
        ModuleSource.Factory factory = ModuleSource.factory(folder.resolve("code"), "vision.models:Classifier")
                .withWeights(weights);
        Tensor image = Tensor.allocate(TensorType.of(DType.FP32, 1, 3, 12, 10));
        for (int i = 0; i < 360; i++) {
            image.set(i, (float) Math.cos(i));
        }
        try (CompiledModule exported = TorchAne.compile(ModuleSource.exported(program), List.of(inputs), options());
                CompiledModule made = TorchAne.compile(factory, List.of(inputs), options())) {
            assertTrue(exported.validate().worst() < 1e-5);
            assertEquals(made.outputs(), exported.outputs());
            for (String output : made.outputs().keySet()) {
                assertArrayEquals(
                        made.run(Map.of("image", image)).get(output).toFloats(),
                        exported.run(Map.of("image", image)).get(output).toFloats(),
                        output);
            }
        }
    }

    private static Path fixture(String name) throws IOException {
        Path file = folder.resolve(name);
        try (InputStream resource = CompiledModuleTest.class.getResourceAsStream(name)) {
            Files.write(file, resource.readAllBytes());
        }
        return file;
    }

    @Test
    void anOperationWithoutALoweringIsRefusedByNameAndPlace() {
        ModuleSource fourier = ModuleSource.factory(folder.resolve("code"), "vision.models:fourier");

        TorchAneException refused =
                assertThrows(TorchAneException.class, () -> TorchAne.compile(fourier, List.of(INPUTS), options()));

        assertTrue(refused.getMessage().contains("aten.fft_rfft.default"), refused.getMessage());
        assertTrue(refused.getMessage().contains("Fourier"), refused.getMessage());
    }

    @Test
    void aNameThatIsNoParameterIsRefused() {
        TorchAneException refused = assertThrows(
                TorchAneException.class,
                () -> TorchAne.compile(resnet(), List.of(INPUTS.and("mask", TensorType.of(DType.FP32, 1))), options()));

        assertTrue(refused.getMessage().contains("ResNet.forward has no parameter mask"), refused.getMessage());
    }
}
