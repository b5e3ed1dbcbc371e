package dev.torchane.llm;

/** A binary heap that gives ids in the order of their keys, the smaller id first among equals; cheap when few are taken. */
final class SmallestFirst {

    private final double[] keys;
    private final int[] heap;
    private int size;

    /**
     * @param keys by id; those of ids that take no part are NaN
     */
    SmallestFirst(double[] keys) {
        this.keys = keys;
        this.heap = new int[keys.length];
        for (int id = 0; id < keys.length; id++) {
            if (!Double.isNaN(keys[id])) {
                heap[size++] = id;
            }
        }
        for (int at = size / 2 - 1; at >= 0; at--) {
            sink(at);
        }
    }

    /** Ids that are left. */
    int size() {
        return size;
    }

    /** Takes the next id; there must be one. */
    int take() {
        int first = heap[0];
        heap[0] = heap[--size];
        sink(0);
        return first;
    }

    /** One of the ids that are left, in no order. */
    int left(int index) {
        return heap[index];
    }

    private void sink(int from) {
        int at = from;
        int id = heap[at];
        for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && before(heap[child + 1], heap[child])) {
                child++;
            }
            if (!before(heap[child], id)) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = id;
    }

    private boolean before(int a, int b) {
        return keys[a] < keys[b] || keys[a] == keys[b] && a < b;
    }
}
