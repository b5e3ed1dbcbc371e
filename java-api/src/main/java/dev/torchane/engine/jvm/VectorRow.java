package dev.torchane.engine.jvm;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Linear layers of one row: four vectors of outputs at a time, weights widened in registers. One loop for each form of weights,
 * because the compiler keeps vectors in registers only where it sees the whole loop, and not where it sees too much.
 *
 * <p>The panels of a step are not neighbours: each comes from its own run of panels, which goes on where the last step ended, so that
 * the processor sees a few long streams and fetches ahead.
 */
final class VectorRow {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;
    private static final int PARTS = L / V;
    /** Panels of a step, whose vectors are four together. */
    private static final int PANELS = 4 / PARTS;

    private static final VectorSpecies<Byte> BS = FS.withLanes(byte.class);
    private static final int SUMS = LinearScratch.SUMS;
    private static final int PRODUCTS = LinearScratch.PRODUCTS;

    private VectorRow() {}

    static void linear(
            float[] x,
            int xOffset,
            Panels w,
            float[] prepared,
            float[] bias,
            int biasOffset,
            int fromPanel,
            int toPanel,
            float[] out,
            int outOffset,
            float[] scratch) {
        int run = Math.ceilDiv(toPanel - fromPanel, PANELS);
        boolean scaled = w instanceof Panels.Blocks blocks && blocks.nibbles();
        float[] in = scaled ? prepared : x;
        int start = scaled ? w.blocks() : xOffset;
        java.util.Arrays.fill(scratch, LinearScratch.ONES, LinearScratch.ONES + L, 1f);
        for (int i = 0; i < run; i++) {
            for (int p = 0; p < PANELS; p++) {
                int at = LinearScratch.TABLES + p * w.tableSize();
                VectorWidening.tables(w, panel(fromPanel + i, p, run, toPanel), scratch, at);
            }
            four(in, start, w, prepared, fromPanel + i, run, toPanel, scratch);
            for (int v = 0; v < 4; v++) {
                int output = panel(fromPanel + i, v / PARTS, run, toPanel) * L + v % PARTS * V;
                VectorKernels.finish(scratch, SUMS + v * V, output, w, bias, biasOffset, out, outOffset);
            }
        }
    }

    /** Panel {@code index} of a step. Past the end it is the last one once more: simpler than a kernel for each remainder. */
    private static int panel(int first, int index, int run, int end) {
        return Math.min(first + index * run, end - 1);
    }

    /** Writes the sums of four vectors of outputs, one block of inputs after the other. */
    private static void four(
            float[] x, int xOffset, Panels w, float[] prepared, int first, int run, int end, float[] scratch) {
        int inputs = w.inputs();
        int v0 = panel(first, 0, run, end) * PARTS;
        int v1 = panel(first, 1 / PARTS, run, end) * PARTS + 1 % PARTS;
        int v2 = panel(first, 2 / PARTS, run, end) * PARTS + 2 % PARTS;
        int v3 = panel(first, 3 / PARTS, run, end) * PARTS + 3 % PARTS;
        int a = place(v0, inputs);
        int b = place(v1, inputs);
        int c = place(v2, inputs);
        int d = place(v3, inputs);
        int tableA = table(w, 0);
        int tableB = table(w, 1);
        int tableC = table(w, 2);
        int tableD = table(w, 3);
        if (w.shifts() >= 0) {
            int shifts = w.shifts();
            floats(
                    prepared,
                    0,
                    scratch,
                    tableA + shifts,
                    tableB + shifts,
                    tableC + shifts,
                    tableD + shifts,
                    w.blocks(),
                    scratch,
                    SUMS);
        } else {
            java.util.Arrays.fill(scratch, SUMS, SUMS + 4 * V, 0f);
        }
        int step = w.factored() ? L : 0;
        for (int k = 0, block = 0; k < inputs; k += w.block(), block++) {
            int at = k * L;
            int size = Math.min(w.block(), inputs - k);
            switch (w) {
                case Panels.I8 i8 ->
                    bytes(x, xOffset + k, i8.data(), a + at, b + at, c + at, d + at, size, scratch, PRODUCTS);
                case Panels.F16 f16 ->
                    halves(x, xOffset + k, f16.data(), a + at, b + at, c + at, d + at, size, scratch, PRODUCTS);
                case Panels.F32 f32 ->
                    floats(x, xOffset + k, f32.data(), a + at, b + at, c + at, d + at, size, scratch, PRODUCTS);
                case Panels.Palette palette -> {
                    palette(x, xOffset + k, palette, v0, v1, 0, k, size, scratch);
                    palette(x, xOffset + k, palette, v2, v3, 2, k, size, scratch);
                }
                case Panels.Blocks blocks
                when blocks.nibbles() -> {
                    int groups = k * L / 2;
                    nibbles(
                            x,
                            xOffset + k,
                            blocks.quants(),
                            groups(v0, inputs) + groups,
                            groups(v1, inputs) + groups,
                            groups(v2, inputs) + groups,
                            groups(v3, inputs) + groups,
                            size,
                            scratch,
                            PRODUCTS);
                }
                case Panels.Blocks blocks ->
                    bytes(x, xOffset + k, blocks.quants(), a + at, b + at, c + at, d + at, size, scratch, PRODUCTS);
            }
            add(scratch, 0, tableA + block * step);
            add(scratch, V, tableB + block * step);
            add(scratch, 2 * V, tableC + block * step);
            add(scratch, 3 * V, tableD + block * step);
        }
    }

    /** Adds the products of a block, times its factors, to the sums of one vector. */
    private static void add(float[] scratch, int at, int factors) {
        FloatVector sums = FloatVector.fromArray(FS, scratch, SUMS + at);
        FloatVector products = FloatVector.fromArray(FS, scratch, PRODUCTS + at);
        FloatVector.fromArray(FS, scratch, factors).fma(products, sums).intoArray(scratch, SUMS + at);
    }

    /** Where the factors of one of the four vectors stand. */
    private static int table(Panels w, int index) {
        if (!w.factored()) {
            return LinearScratch.ONES;
        }
        return LinearScratch.TABLES + index / PARTS * w.tableSize() + index % PARTS * V;
    }

    /** First element of a vector of outputs: vectors of all panels are counted through. */
    private static int place(int vector, int inputs) {
        return vector / PARTS * inputs * L + vector % PARTS * V;
    }

    /** First byte of a vector of outputs where two inputs share one. */
    private static int pairs(int vector, int inputs) {
        return vector / PARTS * (inputs / 2) * L + vector % PARTS * V;
    }

    /** First byte of a vector of outputs where eight inputs share four bytes. */
    private static int groups(int vector, int inputs) {
        return (vector / PARTS * (inputs / 8) * L + vector % PARTS * V) * 4;
    }

    private static void bytes(
            float[] x, int from, byte[] w, int a, int b, int c, int d, int inputs, float[] to, int at) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int place = k * L;
            s0 = VectorForms.bytes(w, a + place).fma(value, s0);
            s1 = VectorForms.bytes(w, b + place).fma(value, s1);
            s2 = VectorForms.bytes(w, c + place).fma(value, s2);
            s3 = VectorForms.bytes(w, d + place).fma(value, s3);
        }
        s0.intoArray(to, at);
        s1.intoArray(to, at + V);
        s2.intoArray(to, at + 2 * V);
        s3.intoArray(to, at + 3 * V);
    }

    private static void halves(
            float[] x, int from, short[] w, int a, int b, int c, int d, int inputs, float[] to, int at) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int place = k * L;
            s0 = VectorForms.halves(w, a + place).fma(value, s0);
            s1 = VectorForms.halves(w, b + place).fma(value, s1);
            s2 = VectorForms.halves(w, c + place).fma(value, s2);
            s3 = VectorForms.halves(w, d + place).fma(value, s3);
        }
        s0.intoArray(to, at);
        s1.intoArray(to, at + V);
        s2.intoArray(to, at + 2 * V);
        s3.intoArray(to, at + 3 * V);
    }

    private static void floats(
            float[] x, int from, float[] w, int a, int b, int c, int d, int inputs, float[] to, int at) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int place = k * L;
            s0 = FloatVector.fromArray(FS, w, a + place).fma(value, s0);
            s1 = FloatVector.fromArray(FS, w, b + place).fma(value, s1);
            s2 = FloatVector.fromArray(FS, w, c + place).fma(value, s2);
            s3 = FloatVector.fromArray(FS, w, d + place).fma(value, s3);
        }
        s0.intoArray(to, at);
        s1.intoArray(to, at + V);
        s2.intoArray(to, at + 2 * V);
        s3.intoArray(to, at + 3 * V);
    }

    /**
     * Eight inputs from each vector of integers. Written out without methods of its own: in a loop of this size the compiler
     * inlines only those of the Vector API.
     */
    private static void nibbles(
            float[] x, int from, byte[] w, int a, int b, int c, int d, int inputs, float[] to, int at) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int k = 0; k < inputs; k += 8) {
            int place = k * 8;
            IntVector groupA = ByteVector.fromArray(BS, w, a + place).reinterpretAsInts();
            IntVector groupB = ByteVector.fromArray(BS, w, b + place).reinterpretAsInts();
            IntVector groupC = ByteVector.fromArray(BS, w, c + place).reinterpretAsInts();
            IntVector groupD = ByteVector.fromArray(BS, w, d + place).reinterpretAsInts();
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            s0 = ((FloatVector) groupA.and(15).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.and(15).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.and(15).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.and(15).castShape(FS, 0)).fma(value, s3);
            value = FloatVector.broadcast(FS, x[from + k + 1]);
            s0 = ((FloatVector) groupA.and(15 << 4).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.and(15 << 4).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.and(15 << 4).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.and(15 << 4).castShape(FS, 0)).fma(value, s3);
            value = FloatVector.broadcast(FS, x[from + k + 2]);
            s0 = ((FloatVector) groupA.and(15 << 8).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.and(15 << 8).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.and(15 << 8).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.and(15 << 8).castShape(FS, 0)).fma(value, s3);
            value = FloatVector.broadcast(FS, x[from + k + 3]);
            s0 = ((FloatVector) groupA.and(15 << 12).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.and(15 << 12).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.and(15 << 12).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.and(15 << 12).castShape(FS, 0)).fma(value, s3);
            value = FloatVector.broadcast(FS, x[from + k + 4]);
            s0 = ((FloatVector) groupA.and(15 << 16).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.and(15 << 16).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.and(15 << 16).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.and(15 << 16).castShape(FS, 0)).fma(value, s3);
            value = FloatVector.broadcast(FS, x[from + k + 5]);
            s0 = ((FloatVector) groupA.and(15 << 20).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.and(15 << 20).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.and(15 << 20).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.and(15 << 20).castShape(FS, 0)).fma(value, s3);
            value = FloatVector.broadcast(FS, x[from + k + 6]);
            s0 = ((FloatVector) groupA.and(15 << 24).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.and(15 << 24).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.and(15 << 24).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.and(15 << 24).castShape(FS, 0)).fma(value, s3);
            value = FloatVector.broadcast(FS, x[from + k + 7]);
            s0 = ((FloatVector) groupA.lanewise(VectorOperators.LSHR, 28).castShape(FS, 0)).fma(value, s0);
            s1 = ((FloatVector) groupB.lanewise(VectorOperators.LSHR, 28).castShape(FS, 0)).fma(value, s1);
            s2 = ((FloatVector) groupC.lanewise(VectorOperators.LSHR, 28).castShape(FS, 0)).fma(value, s2);
            s3 = ((FloatVector) groupD.lanewise(VectorOperators.LSHR, 28).castShape(FS, 0)).fma(value, s3);
        }
        s0.intoArray(to, at);
        s1.intoArray(to, at + V);
        s2.intoArray(to, at + 2 * V);
        s3.intoArray(to, at + 3 * V);
    }

    /**
     * Two vectors of outputs: with four the loop has too many operations for the compiler.
     *
     * @param index of the first of them among the four of a step
     */
    private static void palette(
            float[] x, int from, Panels.Palette w, int v0, int v1, int index, int k0, int inputs, float[] to) {
        int a = pairs(v0, w.inputs()) + k0 / 2 * L;
        int b = pairs(v1, w.inputs()) + k0 / 2 * L;
        int at = PRODUCTS + index * V;
        palette(x, from, w.indices(), a, b, inputs, to, entries(w, index), entries(w, index + 1), at);
    }

    private static int entries(Panels.Palette w, int index) {
        int span = index % PARTS * V / Panels.Palette.SPAN;
        return LinearScratch.TABLES + index / PARTS * w.tableSize() + span * Panels.Palette.ENTRIES;
    }

    private static void palette(
            float[] x, int from, byte[] w, int a, int b, int inputs, float[] to, int tableA, int tableB, int at) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        IntVector a0 = VectorForms.entries(to, tableA, 0);
        IntVector a1 = VectorForms.entries(to, tableA, 1);
        IntVector a2 = VectorForms.entries(to, tableA, 2);
        IntVector a3 = VectorForms.entries(to, tableA, 3);
        IntVector b0 = VectorForms.entries(to, tableB, 0);
        IntVector b1 = VectorForms.entries(to, tableB, 1);
        IntVector b2 = VectorForms.entries(to, tableB, 2);
        IntVector b3 = VectorForms.entries(to, tableB, 3);
        for (int k = 0; k < inputs; k += 2) {
            FloatVector even = FloatVector.broadcast(FS, x[from + k]);
            FloatVector odd = FloatVector.broadcast(FS, x[from + k + 1]);
            int place = k / 2 * L;
            IntVector pair = VectorForms.unsigned(w, a + place);
            s0 = VectorForms.select(pair, a0, a1, a2, a3).fma(even, s0);
            s0 = VectorForms.select(VectorForms.second(pair), a0, a1, a2, a3).fma(odd, s0);
            pair = VectorForms.unsigned(w, b + place);
            s1 = VectorForms.select(pair, b0, b1, b2, b3).fma(even, s1);
            s1 = VectorForms.select(VectorForms.second(pair), b0, b1, b2, b3).fma(odd, s1);
        }
        s0.intoArray(to, at);
        s1.intoArray(to, at + V);
    }
}
