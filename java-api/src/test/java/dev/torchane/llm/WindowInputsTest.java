package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.Tensor;
import org.junit.jupiter.api.Test;

/** What a window's rows see: softmaxes over nothing or over minus infinity are no numbers on some hardware. */
class WindowInputsTest {

    private static final int COLUMNS = 64;

    private final CountingProgram program = new CountingProgram(CountingProgram.shape(COLUMNS, 16, COLUMNS));

    private void assertEveryRowSees(Tensor mask, int row, int open) {
        int found = 0;
        for (int column = 0; column < COLUMNS; column++) {
            float value = mask.get((long) row * COLUMNS + column);
            assertTrue(value == 0 || value == -40000f, "row " + row + " has " + value);
            found += value == 0 ? 1 : 0;
        }
        assertEquals(open, found, "columns that row " + row + " sees");
    }

    @Test
    void a_row_of_padding_sees_the_first_column_and_nothing_is_minus_infinity() {
        WindowInputs inputs = program.model().newInputs(program.function("decode_" + COLUMNS), 8, COLUMNS);
        for (int position : new int[] {0, 8, 13, COLUMNS - 1}) {
            int start = position / 8 * 8;
            inputs.fill(new Window(false, start, 8, position, position + 1), new int[COLUMNS]);
            for (int row = 0; row < 8; row++) {
                assertEveryRowSees(inputs.tensors().get("mask"), row, start + row <= position ? start + row + 1 : 1);
            }
        }
        inputs.fill(0, new BatchMember[8], new int[8]);
        for (int row = 0; row < 8; row++) {
            assertEveryRowSees(inputs.tensors().get("mask"), row, 1);
        }
    }
}
