package dev.torchane.engine.jvm;

/**
 * Grouped attention: query [1, H, Q, D], key and value [1, kv, M, D] (maybe in a state), mask [1, 1, Q, M].
 *
 * <p>A chunk is some rows of the heads that share keys, over all columns where that gives every thread enough to do, else over
 * one {@link AttentionPart} of them. Either way parts are joined in their order.
 */
record Sdpa(
        Operand query,
        float scale,
        Operand key,
        Operand value,
        Operand mask,
        int table,
        Operand out,
        int heads,
        int keyHeads,
        int rows,
        int width,
        int dim)
        implements Step, WorkerPool.Task {

    /** Rows over the same columns that are computed together. */
    private static final int ROWS = 8;

    /** Chunks for each thread below which rows are divided by their columns. */
    private static final int ENOUGH = 4;

    static void plan(OpContext context) {
        Operand query = context.in("query");
        int dim = query.type().axis(3);
        Operand key = rows(context, "key", dim);
        Operand value = rows(context, "value", dim);
        Operand mask = context.in("mask");
        Operand out = context.out();
        int rows = query.type().axis(2);
        int width = mask.type().axis(-1);
        int table = context.table(mask.buffer(), index -> new OpenColumns(mask, index, rows, width));
        context.step(new Sdpa(
                query,
                context.number("scale", 1f),
                key,
                value,
                mask,
                table,
                out,
                query.type().axis(1),
                key.type().axis(1),
                rows,
                width,
                dim));
    }

    /** Keys or values as they are kept, where a row of theirs is a row of the state. */
    private static Operand rows(OpContext context, String parameter, int dim) {
        Operand raw = context.raw(parameter);
        boolean whole = raw.buffer().memory != StateMemory.INT8 || raw.buffer().row == dim;
        return whole ? raw : context.in(parameter);
    }

    @Override
    public void run(Call call) {
        int[] open = call.table(table, 0);
        int chunks = chunks(open);
        if (isWhole(call, open)) {
            call.parallel(this, chunks);
            return;
        }
        int parts = parts(open);
        call.parts(chunks * parts * left(open));
        call.parallel(this, chunks * parts);
        for (int chunk = 0; chunk < chunks; chunk++) {
            float[] memory = call.parts(0);
            int into = chunk * parts * left(open);
            AttentionPart part = part(call, open, 0, chunk);
            for (int i = 1; i < parts; i++) {
                part.from = i * AttentionPart.COLUMNS;
                part.join(memory, into + i * left(open), into);
            }
            finish(call, part, memory, into);
        }
    }

    private int parts(int[] open) {
        return Math.ceilDiv(OpenColumns.most(open, rows, width), AttentionPart.COLUMNS);
    }

    /** Rows of a chunk. */
    private int group(int[] open) {
        return OpenColumns.areNested(open, rows, width) ? Math.min(rows, ROWS) : 1;
    }

    private int chunks(int[] open) {
        return keyHeads * Math.ceilDiv(rows, group(open));
    }

    /** Floats that the queries of a chunk leave of one part. */
    private int left(int[] open) {
        return group(open) * (heads / keyHeads) * AttentionPart.stride(dim);
    }

    /** Whether a chunk takes all columns of its rows. */
    private boolean isWhole(Call call, int[] open) {
        return parts(open) == 1 || chunks(open) >= ENOUGH * call.threads();
    }

    @Override
    public void run(Call call, int index, int worker) {
        int[] open = call.table(table, 0);
        int parts = parts(open);
        boolean whole = isWhole(call, open);
        int chunk = whole ? index : index / parts;
        AttentionPart part = part(call, open, worker, chunk);
        Kernels kernels = call.kernels.attention(StateMemory.of(part.keys));
        int scratch = part.scratch();
        int left = left(open);
        float[] memory = call.scratch(worker, scratch + 2 * left);
        if (!whole) {
            part.from = index % parts * AttentionPart.COLUMNS;
            part.out = call.parts(0);
            part.outOffset = index * left;
            kernels.attention(part, memory);
            return;
        }
        part.out = memory;
        for (int i = 0; i < parts; i++) {
            part.from = i * AttentionPart.COLUMNS;
            part.outOffset = i == 0 ? scratch : scratch + left;
            kernels.attention(part, memory);
            if (i > 0) {
                part.join(memory, part.outOffset, scratch);
            }
        }
        finish(call, part, memory, scratch);
    }

    private void finish(Call call, AttentionPart part, float[] joined, int from) {
        for (int i = 0; i < part.queries(); i++) {
            int to = out.offset() - query.offset() + part.query(i);
            AttentionPart.finish(joined, from + i * AttentionPart.stride(dim), out.array(call), to, dim);
        }
    }

    private AttentionPart part(Call call, int[] open, int worker, int chunk) {
        int together = heads / keyHeads;
        int keyHead = chunk % keyHeads;
        int first = chunk / keyHeads * group(open);
        AttentionPart part = call.attention(worker);
        part.q = query.array(call);
        part.qOffset = query.offset() + (keyHead * together * rows + first) * dim;
        part.rows = Math.min(group(open), rows - first);
        part.rowStride = dim;
        part.heads = together;
        part.headStride = rows * dim;
        part.scale = scale;
        part.keys = memory(key, call);
        part.keyOffset = StateMemory.of(part.keys).place(key.offset() + keyHead * width * dim, dim);
        part.values = memory(value, call);
        part.valueOffset = StateMemory.of(part.values).place(value.offset() + keyHead * width * dim, dim);
        part.mask = OpenColumns.adds(open, first, width) ? mask.array(call) : null;
        part.maskOffset = mask.offset() + first * width;
        part.columns = open;
        part.columnsOffset = OpenColumns.list(first + part.rows - 1, width);
        part.countsOffset = OpenColumns.count(first, width);
        part.countsStride = OpenColumns.stride(width);
        part.dim = dim;
        return part;
    }

    private static Object memory(Operand operand, Call call) {
        return operand.buffer().state >= 0 ? call.states[operand.buffer().state] : operand.array(call);
    }
}
