package dev.torchane.host;

import java.util.List;
import org.graalvm.polyglot.HostAccess;

/** Takes the weights that all functions share: {@code torch_ane.sinks.WeightSink}. */
public interface WeightSink {

    /**
     * Takes one weight, straight from the memory of its tensor.
     *
     * @param dtype {@code fp32}, {@code fp16} or {@code bf16}
     * @param address of its first byte in this process; read during the call only
     * @param nbytes its size
     * @param role {@code linear}, {@code embedding}, {@code head} or {@code other}
     */
    @HostAccess.Export
    void tensor(String name, String dtype, List<Integer> shape, long address, long nbytes, String role);

    /** Says that {@code name} is the very weight {@code of}. */
    @HostAccess.Export
    void alias(String name, String of);
}
