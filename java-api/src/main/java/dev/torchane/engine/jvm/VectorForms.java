package dev.torchane.engine.jvm;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Width of the vectors, and how stored numbers become vectors of fp32. */
final class VectorForms {

    /** Bits of the vectors, for tests: 128, 256 or 512; the widest the processor likes when unset. */
    static final String BITS_PROPERTY = "torchane.vector.bits";

    static final VectorSpecies<Float> FLOATS = choose();
    static final int V = FLOATS.length();

    private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);
    /** As many bytes as there are lanes, or the 8 that the smallest vector has. */
    private static final VectorSpecies<Byte> BYTES = V == 16 ? ByteVector.SPECIES_128 : ByteVector.SPECIES_64;

    private static final VectorSpecies<Short> SHORTS =
            V == 16 ? ShortVector.SPECIES_256 : V == 8 ? ShortVector.SPECIES_128 : ShortVector.SPECIES_64;

    private static final VectorMask<Integer> UPPER = INTS.indexInRange(-V / 2, V / 2);

    private VectorForms() {}

    private static VectorSpecies<Float> choose() {
        int bits = Integer.getInteger(BITS_PROPERTY, FloatVector.SPECIES_PREFERRED.vectorBitSize());
        return bits >= 512 ? FloatVector.SPECIES_512 : bits >= 256 ? FloatVector.SPECIES_256 : FloatVector.SPECIES_128;
    }

    /** {@code V} int8 numbers. May read up to 8 bytes. */
    static FloatVector bytes(byte[] data, int at) {
        return (FloatVector) ByteVector.fromArray(BYTES, data, at).castShape(FLOATS, 0);
    }

    /** {@code V} bytes as integers from 0 to 255. May read up to 8 bytes. */
    static IntVector unsigned(byte[] data, int at) {
        return (IntVector) ByteVector.fromArray(BYTES, data, at).convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
    }

    /** The high halves of bytes. */
    static IntVector second(IntVector bytes) {
        return bytes.lanewise(VectorOperators.LSHR, 4);
    }

    /** Vector {@code index} of the tables that {@link #select} needs; those that it does not need are some other. */
    static IntVector entries(float[] tables, int at, int index) {
        int last = V == 16 ? 1 : 16 / V - 1;
        return FloatVector.fromArray(FLOATS, tables, at + Math.min(index, last) * V)
                .reinterpretAsInts();
    }

    /**
     * Entries of a table of 16 by the low 4 bits of an index. A vector of 16 has two tables, one for each half of its lanes, a
     * narrower one has one table in several vectors.
     */
    static FloatVector select(IntVector index, IntVector t0, IntVector t1, IntVector t2, IntVector t3) {
        if (V == 16) {
            return index.selectFrom(t0).blend(index.selectFrom(t1), UPPER).reinterpretAsFloats();
        }
        VectorMask<Integer> eight = index.and(8).compare(VectorOperators.NE, 0);
        if (V == 8) {
            return index.selectFrom(t0).blend(index.selectFrom(t1), eight).reinterpretAsFloats();
        }
        VectorMask<Integer> four = index.and(4).compare(VectorOperators.NE, 0);
        IntVector low = index.selectFrom(t0).blend(index.selectFrom(t1), four);
        IntVector high = index.selectFrom(t2).blend(index.selectFrom(t3), four);
        return low.blend(high, eight).reinterpretAsFloats();
    }

    /** {@code V} fp16 numbers. */
    static FloatVector halves(short[] data, int at) {
        IntVector bits = (IntVector) ShortVector.fromArray(SHORTS, data, at).castShape(INTS, 0);
        IntVector magnitude = bits.and(0x7fff).lanewise(VectorOperators.LSHL, 13);
        // The exponent's bias is 15 there and 127 here; subnormal numbers come out right as well.
        FloatVector value = magnitude.reinterpretAsFloats().mul(0x1p112f);
        VectorMask<Integer> special = magnitude.compare(VectorOperators.GE, 0x0f80_0000);
        IntVector result = value.reinterpretAsInts().blend(magnitude.or(0x7f80_0000), special);
        return result.or(bits.and(0x8000_0000)).reinterpretAsFloats();
    }

    /** e^x with the bits of {@link Maths#exp}. */
    static FloatVector exp(FloatVector x) {
        FloatVector t = exponent(x);
        IntVector whole = t.reinterpretAsInts().sub(Float.floatToRawIntBits(Maths.ROUND));
        IntVector half = whole.lanewise(VectorOperators.ASHR, 1);
        FloatVector result = fraction(x, t).mul(power(half)).mul(power(whole.sub(half)));
        result = result.blend(0f, x.compare(VectorOperators.LT, Maths.EXP_MIN));
        return result.blend(Float.POSITIVE_INFINITY, x.compare(VectorOperators.GT, Maths.EXP_MAX));
    }

    /** As {@link #exp} for numbers up to 0, whose powers of two need no halving. */
    static FloatVector expOfNegative(FloatVector x) {
        FloatVector t = exponent(x);
        IntVector whole = t.reinterpretAsInts().sub(Float.floatToRawIntBits(Maths.ROUND));
        return fraction(x, t).mul(power(whole)).blend(0f, x.compare(VectorOperators.LT, Maths.EXP_MIN));
    }

    /** {@code x * log2(e)}, rounded, plus {@link Maths#ROUND}. */
    private static FloatVector exponent(FloatVector x) {
        return x.fma(FloatVector.broadcast(FLOATS, Maths.LOG2E), FloatVector.broadcast(FLOATS, Maths.ROUND));
    }

    /** e^x without its whole powers of two. */
    private static FloatVector fraction(FloatVector x, FloatVector t) {
        FloatVector n = t.sub(Maths.ROUND);
        FloatVector r = n.fma(FloatVector.broadcast(FLOATS, -Maths.LN2_HIGH), x);
        r = n.fma(FloatVector.broadcast(FLOATS, -Maths.LN2_LOW), r);
        FloatVector p = r.fma(FloatVector.broadcast(FLOATS, Maths.E5), FloatVector.broadcast(FLOATS, Maths.E4));
        p = p.fma(r, FloatVector.broadcast(FLOATS, Maths.E3));
        p = p.fma(r, FloatVector.broadcast(FLOATS, Maths.E2));
        p = p.fma(r, FloatVector.broadcast(FLOATS, Maths.E1));
        p = p.fma(r, FloatVector.broadcast(FLOATS, Maths.E0));
        return p.fma(r.mul(r), r).add(1f);
    }

    private static FloatVector power(IntVector exponent) {
        return exponent.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats();
    }
}
