package dev.torchane.diffusion;

/**
 * Single-precision logarithm, sine and cosine by the polynomials of Moshier's Cephes library, with the operations in the order
 * in which torch's vectorised normal distribution rounds them. Multiplications that torch's compiler fused with an
 * addition are {@link Math#fma} here: the results are torch's to the last bit.
 */
final class CephesFloat {

    private static final int INVERSE_MANTISSA_MASK = ~0x7f800000;
    private static final float SQRT_HALF = 0.707106781186547524f;
    private static final float[] LOG = {
        7.0376836292E-2f,
        -1.1514610310E-1f,
        1.1676998740E-1f,
        -1.2420140846E-1f,
        1.4249322787E-1f,
        -1.6668057665E-1f,
        2.0000714765E-1f,
        -2.4999993993E-1f,
        3.3333331174E-1f
    };
    private static final float LOG_Q1 = -2.12194440e-4f;
    private static final float LOG_Q2 = 0.693359375f;

    private static final float FOUR_OVER_PI = 1.27323954473516f;
    private static final float[] MINUS_QUARTER_PI = {-0.78515625f, -2.4187564849853515625e-4f, -3.77489497744594108e-8f
    };
    private static final float[] SIN = {-1.9515295891E-4f, 8.3321608736E-3f, -1.6666654611E-1f};
    private static final float[] COS = {2.443315711809948E-005f, -1.388731625493765E-003f, 4.166664568298827E-002f};

    private CephesFloat() {}

    /** Natural logarithm of a positive normal number. */
    static float log(float value) {
        int bits = Float.floatToRawIntBits(value);
        float e = (float) ((bits >>> 23) - 0x7f) + 1f;
        float fraction = Float.intBitsToFloat((bits & INVERSE_MANTISSA_MASK) | Float.floatToRawIntBits(0.5f));
        float x = fraction - 1f;
        if (fraction < SQRT_HALF) {
            e -= 1f;
            x += fraction;
        }
        float z = x * x;
        float y = LOG[0];
        for (int i = 1; i < LOG.length; i++) {
            y = Math.fma(y, x, LOG[i]);
        }
        y *= x;
        y = Math.fma(y, z, e * LOG_Q1);
        y = Math.fma(-z, 0.5f, y);
        return Math.fma(e, LOG_Q2, x + y);
    }

    /** Sine of a number of moderate size. */
    static float sin(float value) {
        int octant = octant(value);
        float magnitude =
                (octant & 2) == 0 ? sinPolynomial(reduced(value, octant)) : cosPolynomial(reduced(value, octant));
        return ((octant & 4) != 0) == (Float.floatToRawIntBits(value) < 0) ? magnitude : -magnitude;
    }

    /** Cosine of a number of moderate size. */
    static float cos(float value) {
        int octant = octant(value);
        float magnitude =
                (octant & 2) == 0 ? cosPolynomial(reduced(value, octant)) : sinPolynomial(reduced(value, octant));
        return ((octant - 2) & 4) != 0 ? magnitude : -magnitude;
    }

    /** The even number of eighths of a circle that is nearest to an angle. */
    private static int octant(float value) {
        return ((int) (Math.abs(value) * FOUR_OVER_PI) + 1) & ~1;
    }

    private static float reduced(float value, int octant) {
        float x = Math.abs(value);
        for (float part : MINUS_QUARTER_PI) {
            x = Math.fma((float) octant, part, x);
        }
        return x;
    }

    private static float cosPolynomial(float x) {
        float z = x * x;
        float y = Math.fma(Math.fma(COS[0], z, COS[1]), z, COS[2]) * z;
        return Math.fma(y, z, -(z * 0.5f)) + 1f;
    }

    private static float sinPolynomial(float x) {
        float z = x * x;
        float y = Math.fma(Math.fma(SIN[0], z, SIN[1]), z, SIN[2]) * z;
        return Math.fma(y, x, x);
    }
}
