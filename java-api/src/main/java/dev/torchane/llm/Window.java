package dev.torchane.llm;

import java.util.ArrayList;
import java.util.List;

/**
 * One call of a function: the window covers the columns {@code [start, start + rows)} of the state, and the tokens at
 * {@code [from, to)} are new.
 *
 * @param prefill whether the prefill function runs it, else the decode function
 * @param start column of row 0
 * @param rows rows of the function
 * @param from first new position
 * @param to end of the new positions
 */
record Window(boolean prefill, int start, int rows, int from, int to) {

    /**
     * The windows that bring a state from {@code from} to {@code to} tokens: prefill windows while more than a decode window is
     * missing, then decode windows aligned to their size. A window that would cross the edge of the state is shifted back;
     * the rows it repeats rewrite what is there.
     *
     * @param capacity columns of the state, a multiple of {@code decodeRows} and at least {@code prefillRows}
     */
    static List<Window> plan(int from, int to, int capacity, int prefillRows, int decodeRows) {
        List<Window> windows = new ArrayList<>();
        int position = from;
        while (to - position > decodeRows) {
            int start = Math.min(position, capacity - prefillRows);
            int stop = Math.min(start + prefillRows, to);
            windows.add(new Window(true, start, prefillRows, position, stop));
            position = stop;
        }
        while (position < to) {
            int start = position / decodeRows * decodeRows;
            int stop = Math.min(start + decodeRows, to);
            windows.add(new Window(false, start, decodeRows, position, stop));
            position = stop;
        }
        return windows;
    }
}
