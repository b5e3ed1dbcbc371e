package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.Target;
import dev.torchane.engine.Numerics;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models whose activations fp16 cannot hold, on a processor that computes in fp16. */
class Fp16RangeTest {

    private static final BuildOptions ANE = TinyBundles.FP16.withTarget(Target.ANE);
    private static final int[] PROMPT = TinyModel.prompt();

    @TempDir
    Path folder;

    @Test
    void activationsBeyondFp16FailWithoutScalesAndAreRightWithThem() throws IOException {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 31);
        Weights weights = new Weights(checkpoint);
        weights.scaleRow("model.layers.0.mlp.up_proj.weight", 5, 6e4f);
        weights.scaleColumn("model.layers.0.mlp.down_proj.weight", 5, 1 / 6e4f);
        weights.scaleRow("model.layers.1.mlp.down_proj.weight", 7, 5e4f);
        weights.write();

        Path plain = TinyBundles.export(checkpoint, TinyBundles.FP16, folder);
        TorchAneException e =
                assertThrows(TorchAneException.class, () -> TinyBundles.run(plain, Numerics.DECLARED, List.of(PROMPT)));
        assertTrue(e.getMessage().contains("not finite"), e.getMessage());

        Path scaled = TinyBundles.export(checkpoint, ANE, folder);
        assertClose(checkpoint, scaled);
        JsonNode scales = scales(scaled);
        assertTrue(scales.get("largest").asDouble() > 65504, scales.toString());
        assertTrue(scales.get("stream").asInt() < 0, scales.toString());
        assertTrue(scales.get("mlp").get(0).asInt() < 0, scales.toString());
    }

    /** Products of matrices on the Neural Engine end at 32752, before fp16 does. */
    @Test
    void activationsBeyondTheNeuralEnginesProductsAreBroughtBelowThem() throws IOException {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 32);
        Weights weights = new Weights(checkpoint);
        weights.scaleRow("model.layers.1.mlp.down_proj.weight", 7, 2e4f);
        weights.write();

        Path bundle = TinyBundles.export(checkpoint, ANE, folder);
        JsonNode scales = scales(bundle);
        double largest = scales.get("largest").asDouble();
        assertTrue(largest > 8192, "seen " + largest);
        assertTrue(largest * Math.scalb(1.0, scales.get("stream").asInt()) <= 2048, scales.toString());
        assertClose(checkpoint, bundle);
    }

    @Test
    void withoutATokenizerFixedIdsCalibrateWithAWarningAndARecord() throws IOException {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 33);
        List<String> warnings = new ArrayList<>();
        Logger logger = Logger.getLogger("dev.torchane.build");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                warnings.add(logged.getLevel() + " " + logged.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        try {
            Path bundle = TinyBundles.export(checkpoint, ANE, folder);
            assertEquals("fixed ids", scales(bundle).get("calibration").asText());
        } finally {
            logger.removeHandler(handler);
        }
        assertTrue(
                warnings.stream().anyMatch(each -> each.startsWith("WARNING there is no tokenizer")),
                warnings.toString());
    }

    @Test
    void aProgramForTheNeuralEngineHasNoInfinityAndFp32OnlyInsideNorms() {
        Path checkpoint = TinyModel.GEMMA3.write(folder.resolve("checkpoint"), 34);
        try (Bundle bundle = Bundle.open(TinyBundles.export(checkpoint, ANE, folder))) {
            for (Function function : bundle.program().functions()) {
                Set<String> inNorms = function.operations().stream()
                        .filter(Fp16RangeTest::isNorm)
                        .flatMap(operation ->
                                operation.inputs().values().stream().flatMap(List::stream))
                        .map(value -> value.name())
                        .collect(Collectors.toSet());
                for (Operation operation : function.operations()) {
                    if (operation.constant().orElse(null) instanceof Literal.Numbers numbers) {
                        assertTrue(numbers.values().stream().allMatch(Double::isFinite), operation.toString());
                    }
                    boolean wide = operation.outputs().stream()
                            .anyMatch(output -> output.type().dtype() == DType.FP32);
                    boolean allowed = isNorm(operation)
                            || inNorms.contains(
                                    operation.outputs().isEmpty()
                                            ? ""
                                            : operation.output().name());
                    assertFalse(wide && !allowed, operation.toString());
                }
            }
        }
    }

    private static boolean isNorm(Operation operation) {
        return operation
                .composite()
                .filter(group -> group.startsWith("rms_norm#"))
                .isPresent();
    }

    private static void assertClose(Path checkpoint, Path bundle) {
        float[] expected = TinyBundles.eager(checkpoint, List.of(PROMPT)).getFirst();
        float[] found =
                TinyBundles.run(bundle, Numerics.DECLARED, List.of(PROMPT)).getFirst();
        double difference = TinyBundles.difference(expected, found);
        assertTrue(difference <= 5e-2, "the logits differ by " + difference);
    }

    private static JsonNode scales(Path bundle) throws IOException {
        return new ObjectMapper()
                .readTree(bundle.resolve(Bundle.MANIFEST).toFile())
                .required("build")
                .required("scales");
    }

    /** The tensors of a tiny checkpoint, all fp32, to be changed. */
    private static final class Weights {

        private final Path file;
        private final ByteBuffer bytes;
        private final JsonNode header;
        private final int data;

        Weights(Path checkpoint) throws IOException {
            file = checkpoint.resolve("model.safetensors");
            bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
            int length = (int) bytes.getLong(0);
            header = new ObjectMapper().readTree(new String(bytes.array(), 8, length, StandardCharsets.UTF_8));
            data = 8 + length;
        }

        void scaleRow(String tensor, int row, float factor) {
            scale(tensor, row, -1, factor);
        }

        void scaleColumn(String tensor, int column, float factor) {
            scale(tensor, -1, column, factor);
        }

        private void scale(String tensor, int row, int column, float factor) {
            JsonNode entry = header.required(tensor);
            int rows = entry.get("shape").get(0).asInt();
            int columns = entry.get("shape").get(1).asInt();
            int begin = data + entry.get("data_offsets").get(0).asInt();
            for (int i = 0; i < rows * columns; i++) {
                if (i / columns == row || i % columns == column) {
                    int at = begin + 4 * i;
                    bytes.putFloat(at, bytes.getFloat(at) * factor);
                }
            }
        }

        void write() {
            try {
                Files.write(file, bytes.array());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
