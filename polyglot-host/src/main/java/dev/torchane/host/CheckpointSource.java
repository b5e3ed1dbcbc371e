package dev.torchane.host;

import java.util.List;
import org.graalvm.polyglot.HostAccess;

/**
 * The tensors of an open checkpoint, for Python to wrap without a copy: {@code torch_ane.sinks.Checkpoint}. The memory is
 * private to this process: Python may write to it.
 */
public interface CheckpointSource {

    /** All tensors, by their transformers name. */
    @HostAccess.Export
    List<String> names();

    /** {@code fp32}, {@code fp16} or {@code bf16}. */
    @HostAccess.Export
    String dtype(String name);

    /** Row-major shape. */
    @HostAccess.Export
    List<Long> shape(String name);

    /** Address of the first byte in this process. */
    @HostAccess.Export
    long address(String name);
}
