package dev.torchane.testing;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Changes to a file's bytes as a broken download, a bad writer or an attacker makes them; the same for the same seed. */
public final class Mutations {

    private static final long[] NUMBERS = {
        0,
        1,
        2,
        7,
        31,
        32,
        33,
        255,
        256,
        65535,
        1L << 20,
        1L << 24,
        Integer.MAX_VALUE,
        1L << 31,
        0xFFFFFFFFL,
        1L << 32,
        1L << 40,
        1L << 60,
        1L << 62,
        Long.MAX_VALUE,
        Long.MAX_VALUE - 31,
        Long.MIN_VALUE,
        -1,
        -2,
        -32
    };

    private final SplittableRandom random;
    private final List<byte[]> words;

    /**
     * @param words what is written over and between bytes beside numbers: names, keys, punctuation of the format
     */
    public Mutations(long seed, List<byte[]> words) {
        this.random = new SplittableRandom(seed);
        this.words = List.copyOf(words);
    }

    /** One to four changes, most of them in the first {@code header} bytes, where sizes and offsets are. */
    public byte[] mutate(byte[] file, int header) {
        byte[] changed = file.clone();
        for (int i = random.nextInt(1, 5); i > 0 && changed.length > 0; i--) {
            int end = random.nextInt(8) == 0 ? changed.length : Math.min(changed.length, header);
            changed = once(changed, random.nextInt(end));
        }
        return changed;
    }

    private byte[] once(byte[] file, int at) {
        return switch (random.nextInt(9)) {
            case 0 -> over(file, at, new byte[] {(byte) (file[at] ^ 1 << random.nextInt(8))});
            case 1 -> over(file, at, new byte[] {(byte) random.nextInt(256)});
            case 2 -> over(file, at, number(4));
            case 3 -> over(file, at, number(8));
            case 4 -> over(file, at, word());
            case 5 -> splice(file, at, at, word());
            case 6 -> splice(file, at, Math.min(file.length, at + random.nextInt(1, 64)), new byte[0]);
            case 7 -> {
                int from = random.nextInt(file.length);
                yield splice(file, at, at, Arrays.copyOfRange(file, from, Math.min(file.length, from + 96)));
            }
            default -> Arrays.copyOf(file, at);
        };
    }

    private byte[] word() {
        return words.get(random.nextInt(words.size()));
    }

    private byte[] number(int bytes) {
        long value = NUMBERS[random.nextInt(NUMBERS.length)];
        byte[] little = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            little[i] = (byte) (value >> 8 * i);
        }
        return little;
    }

    private static byte[] over(byte[] file, int at, byte[] replacement) {
        System.arraycopy(replacement, 0, file, at, Math.min(replacement.length, file.length - at));
        return file;
    }

    private static byte[] splice(byte[] file, int from, int to, byte[] between) {
        byte[] result = Arrays.copyOf(file, file.length - (to - from) + between.length);
        System.arraycopy(between, 0, result, from, between.length);
        System.arraycopy(file, to, result, from + between.length, file.length - to);
        return result;
    }
}
