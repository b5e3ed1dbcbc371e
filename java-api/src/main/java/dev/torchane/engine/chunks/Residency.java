package dev.torchane.engine.chunks;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;

/**
 * Which chunks keep their weights in memory. They run in a circle, so what was used longest ago is what is needed next: as many of the
 * first as fit stay for good, beside room for one of the others, which are read anew each time they run. While one runs the file of
 * the next is read.
 */
final class Residency implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Residency.class.getName());

    private final List<Chunk> chunks;
    private final int staying;
    private final ExecutorService reader = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("torch-ane-chunks").factory());

    Residency(List<Chunk> chunks, long bytes) {
        this.chunks = chunks;
        long[] sizes = chunks.stream().mapToLong(chunk -> chunk.part().bytes()).toArray();
        this.staying = staying(sizes, bytes);
        if (staying < sizes.length) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "the weights of {0} programs take {1} MB and {2} MB may stay in memory: {3} of them are read from the"
                            + " disk for every window of tokens",
                    sizes.length,
                    LongStream.of(sizes).sum() >> 20,
                    bytes >> 20,
                    sizes.length - staying);
        }
    }

    /** How many of the first chunks stay. */
    static int staying(long[] sizes, long bytes) {
        long all = LongStream.of(sizes).sum();
        if (all <= bytes) {
            return sizes.length;
        }
        int staying = sizes.length;
        long kept = all;
        long largest = 0;
        while (staying > 0 && kept > bytes - largest) {
            staying--;
            kept -= sizes[staying];
            largest = Math.max(largest, sizes[staying]);
        }
        return staying;
    }

    /** To be called before a chunk runs. */
    void runs(int chunk) {
        int next = (chunk + 1) % chunks.size();
        if (next >= staying && next != chunk) {
            CompletableFuture.runAsync(chunks.get(next)::prefetch, reader).exceptionally(failure -> {
                LOG.log(System.Logger.Level.DEBUG, "the next chunk could not be read ahead", failure);
                return null;
            });
        }
    }

    /** To be called when a chunk has run. */
    void ran(int chunk) {
        if (chunk >= staying) {
            chunks.get(chunk).release();
        } else {
            chunks.get(chunk).forgetFile();
        }
    }

    @Override
    public void close() {
        reader.shutdownNow();
    }
}
