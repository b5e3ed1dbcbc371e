package dev.torchane.diffusion;

/** The generator MT19937 of Matsumoto and Nishimura (1998), seeded as torch seeds its own. */
final class MersenneTwister {

    private static final int SIZE = 624;
    private static final int SHIFT = 397;

    private final int[] state = new int[SIZE];
    private int next = SIZE;

    /** @param seed its low 32 bits count, as in torch */
    MersenneTwister(long seed) {
        state[0] = (int) seed;
        for (int i = 1; i < SIZE; i++) {
            state[i] = 1812433253 * (state[i - 1] ^ (state[i - 1] >>> 30)) + i;
        }
    }

    /** The next 32 bits. */
    int nextInt() {
        if (next == SIZE) {
            twist();
        }
        int y = state[next++];
        y ^= y >>> 11;
        y ^= (y << 7) & 0x9d2c5680;
        y ^= (y << 15) & 0xefc60000;
        return y ^ (y >>> 18);
    }

    private void twist() {
        for (int i = 0; i < SIZE; i++) {
            int y = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
            state[i] = state[(i + SHIFT) % SIZE] ^ (y >>> 1) ^ ((y & 1) == 0 ? 0 : 0x9908b0df);
        }
        next = 0;
    }
}
