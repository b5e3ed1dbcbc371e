package dev.torchane.grammar;

/** A set of bytes as 256 bits, from 0 up. */
record ByteSet(long b0, long b1, long b2, long b3) {

    /** Both ends inclusive, 0 to 255. */
    static ByteSet range(int first, int last) {
        long[] words = new long[4];
        for (int b = first; b <= last; b++) {
            words[b >> 6] |= 1L << b;
        }
        return new ByteSet(words[0], words[1], words[2], words[3]);
    }

    ByteSet or(ByteSet other) {
        return new ByteSet(b0 | other.b0, b1 | other.b1, b2 | other.b2, b3 | other.b3);
    }

    boolean contains(int b) {
        long word = switch (b >> 6) {
            case 0 -> b0;
            case 1 -> b1;
            case 2 -> b2;
            default -> b3;
        };
        return (word >>> b & 1) != 0;
    }
}
