package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Buffers that live at the same time do not overlap; others share memory. */
class ArenaTest {

    private static Operand.Buffer buffer(int size, int first, int last) {
        Operand.Buffer buffer = new Operand.Buffer(size);
        buffer.touch(first);
        buffer.touch(last);
        return buffer;
    }

    @Test
    void aBufferTakesThePlaceOfADeadOne() {
        Operand.Buffer a = buffer(32, 0, 1);
        Operand.Buffer b = buffer(16, 1, 3);
        Operand.Buffer c = buffer(20, 2, 3);
        assertEquals(48, Arena.place(List.of(a, b, c)));
        assertEquals(a.offset, c.offset);
    }

    @Test
    void livingBuffersNeverOverlap() {
        Random random = new Random(5);
        List<Operand.Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            buffers.add(buffer(1 + random.nextInt(100), i / 2, i / 2 + random.nextInt(9)));
        }
        int size = Arena.place(buffers);
        for (Operand.Buffer a : buffers) {
            assertTrue(a.offset % Lanes.COUNT == 0 && a.offset + a.size <= size);
            for (Operand.Buffer b : buffers) {
                boolean together = a != b && a.firstStep <= b.lastStep && b.firstStep <= a.lastStep;
                assertTrue(!together || a.offset + a.size <= b.offset || b.offset + b.size <= a.offset);
            }
        }
    }
}
