package dev.torchane.text;

import java.util.Arrays;
import java.util.function.Function;

/** Decoder for every other kind of tokenizer: decodes a short window of ids with and without the newest ones. */
final class WindowDecoder implements IncrementalDecoder {

    private final Function<int[], String> decode;
    private int[] window = new int[0];
    private int settled;

    WindowDecoder(Function<int[], String> decode) {
        this.decode = decode;
    }

    @Override
    public String append(int id) {
        window = Arrays.copyOf(window, window.length + 1);
        window[window.length - 1] = id;
        String before = decode.apply(Arrays.copyOf(window, settled));
        String after = decode.apply(window);
        if (after.length() <= before.length() || after.endsWith("\uFFFD")) {
            return "";
        }
        window = Arrays.copyOfRange(window, settled, window.length);
        settled = window.length;
        return after.substring(before.length());
    }

    @Override
    public String finish() {
        String before = decode.apply(Arrays.copyOf(window, settled));
        String after = decode.apply(window);
        settled = window.length;
        return after.substring(Math.min(before.length(), after.length()));
    }
}
