package dev.torchane.samples.mil;

import dev.torchane.MilProgram;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operations;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.Map;
import java.util.Random;

/**
 * New keys or values into a cache, where neither states nor {@code slice_update} nor {@code scatter} exist: the cache goes in and
 * comes out whole, and a mask says which columns are new. One new row is spread over all columns by {@code select} itself; several
 * are first spread by {@code gather}, with any index for the columns that are kept.
 */
public final class KvUpdate {

    private KvUpdate() {}

    /** Columns of the cache {@code [1, heads, columns, dim]} where {@code open [1, 1, 1, columns]} is 1 become the row. */
    public static Value bySelect(Operations f, String name, Value cache, Value row, Value open) {
        return f.select(name, condition(f, name, cache, open), row, cache);
    }

    /**
     * As {@link #bySelect} for several rows.
     *
     * @param indices uint16 {@code [columns]}: which row goes into a column, 0 where none does
     */
    public static Value byGather(Operations f, String name, Value cache, Value rows, Value indices, Value open) {
        Value spread = f.gather(name + "_spread", rows, indices, 2);
        return f.select(name, condition(f, name, cache, open), spread, cache);
    }

    /** The mask comes in with the columns last, where memory is dense. */
    private static Value condition(Operations f, String name, Value cache, Value open) {
        Value columns = f.reshape(name + "_columns", open, 1, 1, cache.type().axis(2), 1);
        return f.binary("greater", name + "_open", columns, Literal.scalar(DType.FP16, 0.5));
    }

    /** A program with the functions {@code by_select} and {@code by_gather}. */
    public static Program program(int heads, int columns, int dim, int rows) {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder one = program.function("by_select");
        Value cache = one.input("cache", Numbers.half(1, heads, columns, dim));
        Value row = one.input("row", Numbers.half(1, heads, 1, dim));
        one.done(bySelect(one, "updated", cache, row, one.input("open", Numbers.half(1, 1, 1, columns))));
        FunctionBuilder several = program.function("by_gather");
        Value whole = several.input("cache", Numbers.half(1, heads, columns, dim));
        Value fresh = several.input("rows", Numbers.half(1, heads, rows, dim));
        Value indices = several.input("indices", TensorType.of(DType.UINT16, columns));
        several.done(byGather(
                several, "updated", whole, fresh, indices, several.input("open", Numbers.half(1, 1, 1, columns))));
        return program.build();
    }

    /** Writes rows into a cache from column {@code first} on, both ways; the difference to a plain copy must be none. */
    public static Numbers.Difference run(int first, int rows) {
        int heads = 2;
        int columns = 64;
        int dim = 32;
        Random random = new Random(2);
        Tensor cache = Numbers.random(random, 1, 1, heads, columns, dim);
        Tensor fresh = Numbers.random(random, 1, 1, heads, rows, dim);
        Tensor open = Tensor.allocate(Numbers.half(1, 1, 1, columns));
        Tensor indices = Tensor.allocate(TensorType.of(DType.UINT16, columns));
        double[] expected = new double[heads * columns * dim];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = cache.get(i);
        }
        for (int row = 0; row < rows; row++) {
            open.set(first + row, 1);
            indices.set(first + row, row);
            for (int head = 0; head < heads; head++) {
                for (int i = 0; i < dim; i++) {
                    expected[(head * columns + first + row) * dim + i] = fresh.get((head * rows + row) * dim + i);
                }
            }
        }
        try (MilProgram program = Numbers.load(program(heads, columns, dim, rows))) {
            Tensor gathered = program.run(
                            "by_gather", Map.of("cache", cache, "rows", fresh, "indices", indices, "open", open))
                    .get("updated");
            if (rows == 1) {
                Tensor selected = program.run("by_select", Map.of("cache", cache, "row", fresh, "open", open))
                        .get("updated");
                Numbers.Difference difference = Numbers.Difference.of(selected, expected);
                if (difference.largest() > 0) {
                    return difference;
                }
            }
            return Numbers.Difference.of(gathered, expected);
        }
    }

    /** Prints the difference to a plain copy. */
    public static void main(String[] arguments) {
        System.out.println("one row: " + run(7, 1));
        System.out.println("eight rows: " + run(24, 8));
    }
}
