package dev.torchane.engine.jvm;

/** Columns of keys or values in fp32, {@link AttentionPart#PLANE} dimensions of all columns behind those before. */
final class VectorTile {

    private static final int V = VectorForms.V;
    private static final int PLANE = AttentionPart.PLANE;

    private VectorTile() {}

    /**
     * Some columns of a part: where they lie, if that is in fp32, one behind the other, a multiple of four and one plane; else
     * in the tile of the scratch memory, without their factors, which go to their place there.
     */
    static float[] load(AttentionPart part, Object memory, int offset, int from, int size, float[] scratch) {
        int dim = part.dim;
        int stride = AttentionPart.stride(memory, dim);
        boolean consecutive = part.consecutive(from, size);
        int first = offset + part.column(from) * stride;
        if (consecutive && dim == PLANE && memory instanceof float[] floats && size % 4 == 0) {
            return floats;
        }
        if (consecutive && dim == PLANE && memory instanceof short[] halves) {
            ScalarKernels.halves(halves, first, scratch, part.tile(), size * dim);
            return scratch;
        }
        if (consecutive && dim == PLANE && memory instanceof byte[] bytes) {
            consecutive(bytes, first, size, scratch, part.tile(), part.factors());
            return scratch;
        }
        for (int i = 0; i < size; i++) {
            int column = offset + part.column(from + i) * stride;
            if (memory instanceof byte[] bytes) {
                scratch[part.factors() + i] = QuantizedRows.factor(bytes, column, dim);
            }
            for (int plane = 0; plane < dim; plane += PLANE) {
                int to = part.tile() + plane * AttentionPart.TILE + i * PLANE;
                plane(memory, column + plane, Math.min(PLANE, dim - plane), scratch, to);
            }
        }
        return scratch;
    }

    /** Rows of one plane, whose length is a constant here. */
    private static void consecutive(byte[] bytes, int first, int size, float[] to, int tile, int factors) {
        for (int i = 0; i < size; i++) {
            int at = first + i * (PLANE + Float.BYTES);
            to[factors + i] = QuantizedRows.factor(bytes, at, PLANE);
            for (int d = 0; d < PLANE; d += V) {
                VectorForms.bytes(bytes, at + d).intoArray(to, tile + i * PLANE + d);
            }
        }
    }

    private static void plane(Object memory, int at, int size, float[] to, int offset) {
        switch (memory) {
            case byte[] bytes -> {
                for (int d = 0; d < size; d += V) {
                    VectorForms.bytes(bytes, at + d).intoArray(to, offset + d);
                }
            }
            case short[] halves -> {
                for (int d = 0; d < size; d += V) {
                    VectorForms.halves(halves, at + d).intoArray(to, offset + d);
                }
            }
            default -> System.arraycopy((float[]) memory, at, to, offset, size);
        }
    }
}
