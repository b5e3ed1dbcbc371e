package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class WindowPlanTest {

    @Test
    void a_short_prompt_takes_aligned_decode_windows() {
        assertEquals(List.of(new Window(false, 0, 8, 0, 5)), Window.plan(0, 5, 512, 256, 8));
        assertEquals(
                List.of(new Window(false, 0, 8, 5, 8), new Window(false, 8, 8, 8, 12)),
                Window.plan(5, 12, 512, 256, 8));
    }

    @Test
    void a_long_prompt_takes_prefill_windows_and_a_decode_tail() {
        assertEquals(
                List.of(new Window(true, 0, 256, 0, 256), new Window(false, 256, 8, 256, 260)),
                Window.plan(0, 260, 512, 256, 8));
    }

    @Test
    void a_window_at_the_edge_of_the_state_is_shifted_back() {
        assertEquals(List.of(new Window(true, 256, 256, 300, 512)), Window.plan(300, 512, 512, 256, 8));
    }

    @Test
    void every_new_token_is_in_exactly_one_window_and_no_window_leaves_the_state() {
        for (int capacity : new int[] {32, 40, 64}) {
            for (int from = 0; from < capacity; from++) {
                for (int to = from + 1; to <= capacity; to++) {
                    int next = from;
                    for (Window window : Window.plan(from, to, capacity, 32, 8)) {
                        assertEquals(next, window.from());
                        assertTrue(window.to() > window.from());
                        assertTrue(window.start() >= 0 && window.start() + window.rows() <= capacity);
                        assertTrue(window.start() <= window.from());
                        assertTrue(window.to() <= window.start() + window.rows());
                        next = window.to();
                    }
                    assertEquals(to, next);
                }
            }
        }
    }
}
