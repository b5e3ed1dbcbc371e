package dev.torchane.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class LadderPlanTest {

    private static LadderPlan plan(int maxLen, int modelLimit) {
        return LadderPlan.of(BuildOptions.defaults().withMaxLen(maxLen), modelLimit);
    }

    @Test
    void the_default_context_is_2048_or_the_models_limit() {
        assertEquals(List.of(512, 1024, 2048), plan(0, 8192).rungs());
        assertEquals(List.of(512, 600), plan(0, 600).rungs());
    }

    @Test
    void a_context_smaller_than_the_prefill_window_shrinks_the_window() {
        assertEquals(new LadderPlan(128, 128, List.of(128)), plan(128, 8192));
    }

    @Test
    void a_context_that_is_no_multiple_of_8_gets_a_rung_that_holds_it() {
        assertEquals(new LadderPlan(101, 104, List.of(104)), plan(101, 8192));
        assertEquals(new LadderPlan(3, 8, List.of(8)), plan(3, 8192));
        assertEquals(new LadderPlan(125, 128, List.of(128)), plan(0, 125));
    }

    @Test
    void a_context_beyond_the_models_limit_is_refused_with_both_numbers() {
        String message = assertThrows(IllegalArgumentException.class, () -> plan(4096, 2048))
                .getMessage();
        assertEquals(
                "maxLen(4096) is larger than the model's own limit of 2048 tokens: choose maxLen(2048) or less",
                message);
    }
}
