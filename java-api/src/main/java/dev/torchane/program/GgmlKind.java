package dev.torchane.program;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Block formats of GGUF files that {@code ane.constexpr_ggml} keeps as they are. */
enum GgmlKind {
    Q4_0(32, 18),
    Q4_1(32, 20),
    Q5_0(32, 22),
    Q5_1(32, 24),
    Q8_0(32, 34),
    Q2_K(256, 84),
    Q3_K(256, 110),
    Q4_K(256, 144),
    Q5_K(256, 176),
    Q6_K(256, 210);

    private final int blockElements;
    private final int blockBytes;

    GgmlKind(int blockElements, int blockBytes) {
        this.blockElements = blockElements;
        this.blockBytes = blockBytes;
    }

    int blockElements() {
        return blockElements;
    }

    int blockBytes() {
        return blockBytes;
    }

    static List<String> names() {
        return Arrays.stream(values())
                .map(kind -> kind.name().toLowerCase(Locale.ROOT))
                .toList();
    }

    static Optional<GgmlKind> find(String name) {
        return Arrays.stream(values())
                .filter(kind -> kind.name().equalsIgnoreCase(name))
                .findFirst();
    }
}
