package dev.torchane.host;

import org.graalvm.polyglot.HostAccess;

/** A {@code torch.Tensor}, contiguous. */
@HostAccess.Implementable
interface PythonTensor {

    /** Address of its first element in this process. */
    long data_ptr();

    /** Number of elements. */
    long numel();

    /** Bytes of one element. */
    long element_size();
}
