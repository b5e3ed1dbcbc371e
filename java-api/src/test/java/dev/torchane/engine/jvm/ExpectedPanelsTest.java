package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.torchane.program.Manifest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Kernels warm up while weights are still being read. */
class ExpectedPanelsTest {

    @Test
    void theMostBytesComeFirstAndNormsDoNotCount() {
        List<Panels> panels = ExpectedPanels.of(List.of(
                weight("int8", 30_000_000),
                weight("int4", 60_000_000),
                weight("fp32", 100_000),
                weight("odd", 9_000_000)));

        assertEquals(2, panels.size());
        assertInstanceOf(Panels.Blocks.class, panels.get(0));
        assertInstanceOf(Panels.I8.class, panels.get(1));
    }

    private static Manifest.Weight weight(String encoding, long bytes) {
        return new Manifest.Weight("w", List.of(1), encoding, bytes, 0, 0, 0, "");
    }
}
