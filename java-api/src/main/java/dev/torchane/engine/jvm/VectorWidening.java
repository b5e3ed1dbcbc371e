package dev.torchane.engine.jvm;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Weights of a panel as fp32, without the factors of outputs and blocks, on the Vector API. */
final class VectorWidening {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final VectorSpecies<Byte> BS = FS.withLanes(byte.class);
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
            case Panels.Blocks blocks
            when blocks.nibbles() -> nibbles(blocks.quants(), first / 2, to - from, target, at);
            case Panels.Blocks blocks -> bytes(blocks.quants(), first, target, at, size);
        }
    }

    /** What {@link Panels#tables} writes. */
    static void tables(Panels w, int panel, float[] to, int at) {
        if (w instanceof Panels.Blocks blocks && blocks.factors() instanceof BlockFactors.Halves halves) {
            int size = halves.count() * L;
            halves(halves.factors(), panel * size, to, at, size);
            if (halves.minima().length > 0) {
                halves(halves.minima(), panel * size, to, at + size, size);
            } else if (halves.shifted()) {
                BlockFactors.shifts(halves.zero(), size, to, at);
            }
        } else {
            w.tables(panel, to, at);
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

    /** Eight inputs from each vector of integers. */
    private static void nibbles(byte[] data, int from, int inputs, float[] to, int at) {
        for (int part = 0; part < L; part += V) {
            for (int k = 0; k < inputs; k += 8) {
                IntVector group =
                        ByteVector.fromArray(BS, data, from + 8 * k + 4 * part).reinterpretAsInts();
                int place = at + part + k * L;
                ((FloatVector) group.and(15).castShape(FS, 0)).intoArray(to, place);
                ((FloatVector) group.and(15 << 4).castShape(FS, 0)).intoArray(to, place + L);
                ((FloatVector) group.and(15 << 8).castShape(FS, 0)).intoArray(to, place + 2 * L);
                ((FloatVector) group.and(15 << 12).castShape(FS, 0)).intoArray(to, place + 3 * L);
                ((FloatVector) group.and(15 << 16).castShape(FS, 0)).intoArray(to, place + 4 * L);
                ((FloatVector) group.and(15 << 20).castShape(FS, 0)).intoArray(to, place + 5 * L);
                ((FloatVector) group.and(15 << 24).castShape(FS, 0)).intoArray(to, place + 6 * L);
                ((FloatVector) group.lanewise(VectorOperators.LSHR, 28).castShape(FS, 0)).intoArray(to, place + 7 * L);
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
