package dev.torchane.host;

import org.graalvm.polyglot.HostAccess;

/** Tensors that Python computed, contiguous, alive as long as this is. */
@HostAccess.Implementable
interface PythonResults {

    /** JSON: {@code [{"name": …, "dtype": "fp32", "shape": […]}, …]}. */
    String describe();

    /** Where the bytes of a tensor begin in this process. */
    long address(int index);
}
