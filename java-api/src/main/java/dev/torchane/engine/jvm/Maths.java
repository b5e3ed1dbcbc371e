package dev.torchane.engine.jvm;

/** Elementary functions in fp32 whose bits do not depend on the platform or on the compiler. */
final class Maths {

    static final float LOG2E = 1.44269504088896341f;
    static final float LN2_HIGH = 0.693359375f;
    static final float LN2_LOW = -2.12194440e-4f;
    /** Adding and subtracting it rounds to the nearest integer. */
    static final float ROUND = 12582912f;

    static final float EXP_MAX = 88.72283f;
    static final float EXP_MIN = -87.33654f;

    /** Coefficients of (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, highest power first. */
    static final float E5 = 1.9875691500e-4f;

    static final float E4 = 1.3981999507e-3f;
    static final float E3 = 8.3334519073e-3f;
    static final float E2 = 4.1665795894e-2f;
    static final float E1 = 1.6666665459e-1f;
    static final float E0 = 5.0000001201e-1f;

    private static final double TWO_OVER_ROOT_PI = 1.1283791670955126;
    private static final int ERF_STEPS = 32;
    private static final double[] ERF = erfTable();
    /** Slopes of erf where the table has its values. */
    private static final double[] SLOPES = slopes();

    private Maths() {}

    /** e^x within 2 units in the last place; 0 below -87.3 and infinity above 88.7. */
    static float exp(float x) {
        if (x != x) {
            return x;
        }
        if (x > EXP_MAX) {
            return Float.POSITIVE_INFINITY;
        }
        if (x < EXP_MIN) {
            return 0;
        }
        float t = Math.fma(x, LOG2E, ROUND);
        float n = t - ROUND;
        float r = Math.fma(n, -LN2_HIGH, x);
        r = Math.fma(n, -LN2_LOW, r);
        float p = Math.fma(E5, r, E4);
        p = Math.fma(p, r, E3);
        p = Math.fma(p, r, E2);
        p = Math.fma(p, r, E1);
        p = Math.fma(p, r, E0);
        p = Math.fma(p, r * r, r) + 1f;
        // In two factors, because 2^128 is no float.
        int whole = Float.floatToRawIntBits(t) - Float.floatToRawIntBits(ROUND);
        int half = whole >> 1;
        return p * Float.intBitsToFloat((half + 127) << 23) * Float.intBitsToFloat((whole - half + 127) << 23);
    }

    static float sigmoid(float x) {
        return 1f / (1f + exp(-x));
    }

    static float silu(float x) {
        return x / (1f + exp(-x));
    }

    /** The error function, within 1e-9. */
    static double erf(double x) {
        double magnitude = Math.abs(x);
        if (magnitude >= 6) {
            return Math.signum(x);
        }
        int index = (int) Math.round(magnitude * ERF_STEPS);
        double x0 = (double) index / ERF_STEPS;
        double h = magnitude - x0;
        // Taylor around x0: derivatives of erf are Hermite polynomials times exp(-x0^2).
        double d1 = SLOPES[index];
        double d2 = -2 * x0 * d1;
        double d3 = (4 * x0 * x0 - 2) * d1;
        double d4 = (-8 * x0 * x0 * x0 + 12 * x0) * d1;
        double value = ERF[index] + h * (d1 + h * (d2 / 2 + h * (d3 / 6 + h * d4 / 24)));
        return Math.copySign(value, x);
    }

    private static double[] slopes() {
        double[] slopes = new double[6 * ERF_STEPS + 1];
        for (int i = 0; i < slopes.length; i++) {
            double x = (double) i / ERF_STEPS;
            slopes[i] = TWO_OVER_ROOT_PI * Math.exp(-x * x);
        }
        return slopes;
    }

    private static double[] erfTable() {
        double[] table = new double[6 * ERF_STEPS + 1];
        for (int i = 0; i < table.length; i++) {
            double x = (double) i / ERF_STEPS;
            double term = x;
            double sum = x;
            for (int n = 1; n < 400 && term > 1e-18; n++) {
                term *= 2 * x * x / (2 * n + 1);
                sum += term;
            }
            table[i] = TWO_OVER_ROOT_PI * Math.exp(-x * x) * sum;
        }
        return table;
    }
}
