package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/** Weights of a panel as fp32, without the factor of an output, on the Vector API. */
final class VectorWidening {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;

    private VectorWidening() {}

    /** As {@link ScalarWidening#widen}. */
    static void widen(Panels w, int panel, int from, int to, float[] target, int tables, int at) {
        int first = (panel * w.inputs() + from) * L;
        int size = (to - from) * L;
        switch (w) {
            case Panels.F32 f32 -> System.arraycopy(f32.data(), first, target, at, size);
            case Panels.F16 f16 -> halves(f16.data(), first, target, at, size);
            case Panels.I8 i8 -> bytes(i8.data(), first, target, at, size);
            case Panels.Palette palette -> palette(palette.indices(), first / 2, to - from, target, tables, at);
            case Panels.Blocks blocks -> {
                int block = blocks.factors().block();
                int shifts = blocks.factors().count() * L;
                for (int k = from; k < to; ) {
                    int end = Math.min(to, (k / block + 1) * block);
                    int table = tables + k / block * L;
                    int place = at + (k - from) * L;
                    int quants = (panel * w.inputs() + k) * L;
                    if (blocks.nibbles()) {
                        nibbles(blocks.quants(), quants / 2, end - k, target, table, table + shifts, place);
                    } else {
                        bytes(blocks.quants(), quants, end - k, target, table, table + shifts, place);
                    }
                    k = end;
                }
            }
        }
    }

    private static void halves(short[] data, int from, float[] to, int at, int size) {
        for (int i = 0; i < size; i += V) {
            VectorForms.halves(data, from + i).intoArray(to, at + i);
        }
    }

    private static void bytes(byte[] data, int from, float[] to, int at, int size) {
        for (int i = 0; i < size; i += V) {
            VectorForms.bytes(data, from + i).intoArray(to, at + i);
        }
    }

    private static void bytes(byte[] data, int from, int inputs, float[] to, int factors, int shifts, int at) {
        for (int part = 0; part < L; part += V) {
            FloatVector factor = FloatVector.fromArray(FS, to, factors + part);
            FloatVector shift = FloatVector.fromArray(FS, to, shifts + part);
            for (int i = part; i < inputs * L; i += L) {
                VectorForms.bytes(data, from + i).fma(factor, shift).intoArray(to, at + i);
            }
        }
    }

    private static void nibbles(byte[] data, int from, int inputs, float[] to, int factors, int shifts, int at) {
        for (int part = 0; part < L; part += V) {
            FloatVector factor = FloatVector.fromArray(FS, to, factors + part);
            FloatVector shift = FloatVector.fromArray(FS, to, shifts + part);
            for (int i = part; i < inputs * L; i += 2 * L) {
                IntVector pair = VectorForms.unsigned(data, from + (i - part) / 2 + part);
                VectorForms.low(pair).fma(factor, shift).intoArray(to, at + i);
                VectorForms.high(pair).fma(factor, shift).intoArray(to, at + i + L);
            }
        }
    }

    private static void palette(byte[] data, int from, int inputs, float[] to, int tables, int at) {
        for (int part = 0; part < L; part += V) {
            int table = tables + part / Panels.Palette.SPAN * Panels.Palette.ENTRIES;
            IntVector t0 = VectorForms.entries(to, table, 0);
            IntVector t1 = VectorForms.entries(to, table, 1);
            IntVector t2 = VectorForms.entries(to, table, 2);
            IntVector t3 = VectorForms.entries(to, table, 3);
            for (int i = part; i < inputs * L; i += 2 * L) {
                IntVector pair = VectorForms.unsigned(data, from + (i - part) / 2 + part);
                VectorForms.select(pair, t0, t1, t2, t3).intoArray(to, at + i);
                VectorForms.select(VectorForms.second(pair), t0, t1, t2, t3).intoArray(to, at + i + L);
            }
        }
    }
}
