package dev.torchane.diffusion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Random numbers are those of torch's CPU generator, bit for bit. */
class TorchRandomTest {

    @Test
    void everyNumberIsTorchsInWhateverPiecesASequenceIsDrawn() {
        for (JsonNode example : Golden.read("randn_golden.json").path("cases")) {
            long seed = example.path("seed").asLong();
            TorchRandom random = new TorchRandom(seed);
            for (JsonNode call : example.path("calls")) {
                int count = call.path("count").asInt();
                String name = "seed " + seed + ", " + count + " of "
                        + call.path("dtype").asText();
                float[] values =
                        call.path("dtype").asText().equals("float16") ? random.normalHalf(count) : random.normal(count);
                float[] first = Golden.floats(call.path("first"));
                assertArrayEquals(first, Arrays.copyOf(values, first.length), name);
                assertEquals(call.path("sha256").asText(), Golden.sha256(values), name);
            }
        }
    }

    @Test
    void seedsCountModuloTwoToTheThirtyTwo() {
        assertArrayEquals(new TorchRandom(0).normal(64), new TorchRandom(1L << 32).normal(64));
        assertArrayEquals(new TorchRandom(0xffffffffL).normal(64), new TorchRandom(-1).normal(64));
    }
}
