package dev.torchane.diffusion;

/**
 * Normally distributed numbers equal bit for bit to those of {@code torch.randn(…, generator=torch.Generator().manual_seed(seed))}
 * of torch 2 on an x86-64 CPU with AVX2. Calls continue one sequence, as in torch. Not thread-safe.
 *
 * <p>Sixteen numbers or more are made in blocks of sixteen, single precision throughout; fewer one by one in double
 * precision. Torch does the same, so {@code randn(20)} and {@code randn(8)} have different beginnings.
 */
public final class TorchRandom {

    private static final int BLOCK = 16;
    private static final int HALF_BLOCK = BLOCK / 2;

    /** Added as torch does, which turns −0 into 0. */
    private static final float MEAN = 0f;

    private static final float TWO_PI = 2f * (float) Math.PI;

    private final MersenneTwister engine;
    private double kept;
    private boolean hasKept;

    /** @param seed its low 32 bits count, as in torch: 2<sup>32</sup> is 0, −1 is 2<sup>32</sup> − 1 */
    public TorchRandom(long seed) {
        this.engine = new MersenneTwister(seed);
    }

    /** As {@code torch.randn(count)}. */
    public float[] normal(int count) {
        return count < BLOCK ? oneByOne(count) : inBlocks(count, TorchRandom::uniform24, TorchRandom::blockOfFloats);
    }

    /** As {@code torch.randn(count, dtype=torch.float16)}, widened to fp32. */
    public float[] normalHalf(int count) {
        if (count >= BLOCK) {
            return inBlocks(count, TorchRandom::uniform11, TorchRandom::blockOfHalves);
        }
        float[] values = oneByOne(count);
        for (int i = 0; i < count; i++) {
            values[i] = half(values[i]);
        }
        return values;
    }

    private float[] inBlocks(int count, Uniform uniform, Block block) {
        float[] values = new float[count];
        fill(values, 0, count, uniform);
        for (int first = 0; first + BLOCK <= count; first += BLOCK) {
            block.transform(values, first);
        }
        if (count % BLOCK != 0) {
            fill(values, count - BLOCK, count, uniform);
            block.transform(values, count - BLOCK);
        }
        return values;
    }

    private void fill(float[] values, int from, int to, Uniform uniform) {
        for (int i = from; i < to; i++) {
            values[i] = uniform.of(engine.nextInt());
        }
    }

    private float[] oneByOne(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) next();
        }
        return values;
    }

    /** Box and Muller's two numbers, one after the other. */
    private double next() {
        if (hasKept) {
            hasKept = false;
            return kept;
        }
        double u1 = uniform53();
        double u2 = uniform53();
        double radius = Math.sqrt(-2.0 * StrictMath.log1p(-u2));
        double angle = 2.0 * Math.PI * u1;
        kept = radius * StrictMath.sin(angle);
        hasKept = true;
        return radius * StrictMath.cos(angle);
    }

    private double uniform53() {
        long high = engine.nextInt();
        long low = engine.nextInt() & 0xffffffffL;
        return ((high << 32 | low) & ((1L << 53) - 1)) * 0x1p-53;
    }

    private static float uniform24(int bits) {
        return (bits & ((1 << 24) - 1)) * 0x1p-24f;
    }

    private static float uniform11(int bits) {
        return (bits & ((1 << 11) - 1)) * 0x1p-11f;
    }

    private static void blockOfFloats(float[] values, int first) {
        for (int i = first; i < first + HALF_BLOCK; i++) {
            float radius = (float) Math.sqrt(-2f * CephesFloat.log(1f - values[i]));
            float angle = TWO_PI * values[i + HALF_BLOCK];
            values[i] = radius * CephesFloat.cos(angle) + MEAN;
            values[i + HALF_BLOCK] = radius * CephesFloat.sin(angle) + MEAN;
        }
    }

    private static void blockOfHalves(float[] values, int first) {
        for (int i = first; i < first + HALF_BLOCK; i++) {
            float log = half((float) StrictMath.log(half(1f - values[i])));
            float radius = half((float) Math.sqrt(half(-2f * log)));
            float angle = half((float) (2.0 * Math.PI * values[i + HALF_BLOCK]));
            values[i] = half(radius * half((float) StrictMath.cos(angle))) + MEAN;
            values[i + HALF_BLOCK] = half(radius * half((float) StrictMath.sin(angle))) + MEAN;
        }
    }

    private static float half(float value) {
        return Float.float16ToFloat(Float.floatToFloat16(value));
    }

    /** A number in [0, 1) from 32 random bits. */
    private interface Uniform {
        float of(int bits);
    }

    /** Makes sixteen uniform numbers normal, in place. */
    private interface Block {
        void transform(float[] values, int first);
    }
}
