package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** When windows of proposed tokens are computed, and what is proposed; times are made up. */
class SpeculationTest {

    private static final int ROWS = 8;
    private static final long STEP = 1000;
    private static final int[] NOTHING = {};
    private static final PromptLookup LOOKUP = new PromptLookup();

    private static TokenHistory history(int... ids) {
        return new TokenHistory() {
            @Override
            public int size() {
                return ids.length;
            }

            @Override
            public int promptSize() {
                return ids.length;
            }

            @Override
            public int at(int position) {
                return ids[position];
            }
        };
    }

    @Test
    void what_followed_the_last_tokens_before_is_proposed() {
        TokenHistory history = history(1, 2, 3, 4, 5, 6, 9, 1, 2);
        assertArrayEquals(new int[] {4, 5}, LOOKUP.propose(history, 3, 2));
        assertArrayEquals(new int[] {4, 5, 6, 9, 1, 2}, LOOKUP.propose(history, 3, 6));
    }

    @Test
    void the_latest_place_counts() {
        assertArrayEquals(new int[] {5}, LOOKUP.propose(history(1, 2, 3, 4, 1, 2, 3, 5, 1, 2), 3, 1));
    }

    @Test
    void new_tokens_have_no_proposals() {
        assertArrayEquals(NOTHING, LOOKUP.propose(history(1, 2, 3, 4, 1, 2), 4, 5));
        assertArrayEquals(NOTHING, LOOKUP.propose(history(), 1, 5));
        assertArrayEquals(NOTHING, LOOKUP.propose(history(3, 3), 3, 5));
    }

    @Test
    void a_text_that_repeats_itself_is_proposed_to_go_on() {
        assertArrayEquals(new int[] {7, 7, 7, 7}, LOOKUP.propose(history(7, 7, 7), 7, 4));
        assertArrayEquals(new int[] {2, 1, 2, 1, 2}, LOOKUP.propose(history(1, 2, 1, 2), 1, 5));
    }

    /** What happened to a text of which every token was the one before, in time and windows. */
    private record Course(double time, int tokens, int windows) {
        double speed() {
            return tokens * STEP / time;
        }
    }

    /**
     * @param window time of a window of some rows
     * @param right how many proposals of a window are right, after its number
     */
    private static Course course(int tokens, IntUnaryOperator window, IntUnaryOperator right) {
        Speculation speculation = new Speculation(ROWS, LOOKUP);
        TokenHistory history = history(5, 5, 5, 5);
        double time = 0;
        int windows = 0;
        int done = 0;
        while (done < tokens) {
            int[] ids = speculation.propose(history, 5, ROWS - 1);
            done++;
            if (ids.length == 0) {
                speculation.stepped(STEP);
                time += STEP;
                continue;
            }
            time += window.applyAsInt(ids.length + 1);
            speculation.computed(ids, new float[ids.length + 1][1], window.applyAsInt(ids.length + 1));
            int taken = Math.min(ids.length, right.applyAsInt(windows++));
            for (int i = 0; i < taken; i++) {
                assertTrue(speculation.after(5).isPresent());
                done++;
            }
            assertFalse(speculation.after(4).isPresent(), "another token");
        }
        return new Course(time, done, windows);
    }

    private static int dear(int rows) {
        return (int) (2 * STEP + rows * STEP / 6);
    }

    @Test
    void proposals_that_are_right_are_as_fast_as_the_longest_windows() {
        Course course = course(400, SpeculationTest::dear, window -> ROWS);
        assertTrue(course.speed() > 0.9 * ROWS * STEP / dear(ROWS), course.toString());
    }

    @Test
    void proposals_that_are_never_right_cost_five_percent_at_most() {
        Course course = course(400, SpeculationTest::dear, window -> 0);
        assertTrue(course.speed() > 0.95, course.toString());
        assertTrue(course.windows() > 0, "they were tried");
    }

    @Test
    void proposals_that_turn_wrong_do_not_spend_what_was_gained() {
        Course good = course(400, SpeculationTest::dear, window -> window < 40 ? ROWS : 0);
        Course end = course(4000, SpeculationTest::dear, window -> window < 40 ? ROWS : 0);
        double speed = (end.tokens() - good.tokens()) * STEP / (end.time() - good.time());
        assertTrue(speed > 0.95, "afterwards " + speed);
    }

    @Test
    void proposals_that_turn_right_are_found() {
        Course course = course(2000, SpeculationTest::dear, window -> window < 10 ? 0 : ROWS);
        assertTrue(course.speed() > 1.5, course.toString());
    }

    @Test
    void windows_that_take_longer_than_their_steps_cost_little() {
        Course course = course(1000, rows -> (int) (1.2 * rows * STEP), window -> ROWS);
        assertTrue(course.speed() > 0.95, course.toString());
    }

    @Test
    void a_first_window_that_has_to_be_prepared_is_forgiven() {
        int[] count = {0};
        Course course = course(400, rows -> count[0]++ < 2 ? (int) (300 * STEP) : dear(rows), window -> ROWS);
        assertTrue(course.windows() > 10, course.toString());
    }

    @Test
    void the_time_of_a_step_is_measured_before_the_first_window() {
        Speculation speculation = new Speculation(ROWS, LOOKUP);
        assertEquals(0, speculation.propose(history(5, 5, 5, 5), 5, 7).length);
        speculation.stepped(STEP);
        assertTrue(speculation.propose(history(5, 5, 5, 5), 5, 7).length > 0);
        assertEquals(0, speculation.propose(history(5, 5, 5, 5), 5, 0).length, "no room");
    }
}
