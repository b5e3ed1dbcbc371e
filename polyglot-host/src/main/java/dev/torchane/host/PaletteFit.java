package dev.torchane.host;

import java.util.Arrays;

/**
 * k-means in one dimension: the palette with the least sum of squared differences to the values.
 *
 * <p>Sorted values make clusters intervals, so that sums over a cluster are differences of running sums. A dynamic programme
 * over some hundred bins of the values places the clusters (Wang and Song, "Ckmeans.1d.dp", 2011); Lloyd's iteration moves their
 * borders to where the values themselves want them. Nothing is random.
 */
final class PaletteFit {

    private static final int BINS = 256;
    private static final int ITERATIONS = 50;

    private final float[] sorted;
    private final double[] sums;
    private final double[] squares;
    private final int entries;

    private PaletteFit(float[] sorted, int entries) {
        this.sorted = sorted;
        this.entries = entries;
        sums = new double[sorted.length + 1];
        squares = new double[sorted.length + 1];
        for (int i = 0; i < sorted.length; i++) {
            sums[i + 1] = sums[i] + sorted[i];
            squares[i + 1] = squares[i] + (double) sorted[i] * sorted[i];
        }
    }

    /** The palette for some values, ascending; exact when there are no more different values than entries. */
    static float[] fit(float[] values, int entries) {
        float[] sorted = values.clone();
        Arrays.sort(sorted);
        float[] different = different(sorted, entries);
        return different.length == entries ? different : new PaletteFit(sorted, entries).palette();
    }

    /** All different values, the last one repeated; nothing if there are more than {@code entries}. */
    private static float[] different(float[] sorted, int entries) {
        float[] found = new float[entries];
        int count = 0;
        for (int i = 0; i < sorted.length; i++) {
            if (i == 0 || sorted[i] != sorted[i - 1]) {
                if (count == entries) {
                    return new float[0];
                }
                found[count++] = sorted[i];
            }
        }
        Arrays.fill(found, count, entries, count == 0 ? 0 : found[count - 1]);
        return found;
    }

    /** Index of the entry nearest to a value, in an ascending palette; the lower one of two that are as near. */
    static int nearest(float[] palette, float value) {
        int low = 0;
        int high = palette.length - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if ((double) value - palette[middle] > (double) palette[middle + 1] - value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private float[] palette() {
        int[] borders = place(bins());
        double[] centres = new double[entries];
        for (int iteration = 0; iteration < ITERATIONS; iteration++) {
            for (int c = 0; c < entries; c++) {
                if (borders[c] < borders[c + 1]) {
                    centres[c] = (sums[borders[c + 1]] - sums[borders[c]]) / (borders[c + 1] - borders[c]);
                }
            }
            boolean moved = false;
            for (int c = 1; c < entries; c++) {
                int border = firstAbove((centres[c - 1] + centres[c]) / 2);
                moved |= border != borders[c];
                borders[c] = border;
            }
            if (!moved) {
                break;
            }
        }
        float[] palette = new float[entries];
        for (int c = 0; c < entries; c++) {
            palette[c] = (float) centres[c];
        }
        return palette;
    }

    /** Index of the first value greater than {@code bound}. */
    private int firstAbove(double bound) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] > bound) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** Borders of bins, from 0 to the number of values: as many of equal width as of equal count. */
    private int[] bins() {
        int n = sorted.length;
        int[] borders = new int[2 * BINS + 1];
        double width = ((double) sorted[n - 1] - sorted[0]) / BINS;
        for (int b = 0; b < BINS; b++) {
            borders[2 * b] = (int) ((long) n * b / BINS);
            borders[2 * b + 1] = firstAbove(sorted[0] + b * width);
        }
        borders[2 * BINS] = n;
        Arrays.sort(borders);
        int count = 1;
        for (int b = 1; b < borders.length; b++) {
            if (borders[b] != borders[count - 1]) {
                borders[count++] = borders[b];
            }
        }
        return Arrays.copyOf(borders, count);
    }

    private double cost(int from, int to) {
        double sum = sums[to] - sums[from];
        return squares[to] - squares[from] - sum * sum / (to - from);
    }

    /** Borders of the clusters, of which each is some whole bins. */
    private int[] place(int[] bins) {
        int count = bins.length - 1;
        int clusters = Math.min(entries, count);
        double[] least = new double[count + 1];
        for (int b = 1; b <= count; b++) {
            least[b] = cost(0, bins[b]);
        }
        int[][] from = new int[clusters][count + 1];
        for (int c = 1; c < clusters; c++) {
            double[] next = new double[count + 1];
            Arrays.fill(next, Double.POSITIVE_INFINITY);
            layer(bins, least, next, from[c], c + 1, count, c, count - 1);
            least = next;
        }
        int[] borders = new int[entries + 1];
        Arrays.fill(borders, clusters, entries + 1, sorted.length);
        int end = count;
        for (int c = clusters - 1; c > 0; c--) {
            end = from[c][end];
            borders[c] = bins[end];
        }
        return borders;
    }

    /** One more cluster: its best beginning grows with its end, so that halving the ends halves the search. */
    private void layer(int[] bins, double[] least, double[] next, int[] from, int low, int high, int first, int last) {
        if (low > high) {
            return;
        }
        int middle = (low + high) >>> 1;
        for (int begin = first; begin <= Math.min(middle - 1, last); begin++) {
            double cost = least[begin] + cost(bins[begin], bins[middle]);
            if (cost < next[middle]) {
                next[middle] = cost;
                from[middle] = begin;
            }
        }
        layer(bins, least, next, from, low, middle - 1, first, from[middle]);
        layer(bins, least, next, from, middle + 1, high, from[middle], last);
    }
}
