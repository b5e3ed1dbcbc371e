package dev.torchane.host;

import java.lang.foreign.MemorySegment;

/** Memory that Python's side owns, seen from Java without a copy. */
final class NativeMemory {

    private NativeMemory() {}

    /** The bytes at an address of this process. Whoever gave the address keeps them alive. */
    @SuppressWarnings("restricted")
    static MemorySegment at(long address, long bytes) {
        if (address == 0 && bytes > 0) {
            throw new IllegalArgumentException("an address is null for " + bytes + " bytes");
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /** A tensor's memory itself; the tensor must be kept alive as long as it is used. */
    static MemorySegment of(PythonTensor tensor) {
        return at(tensor.data_ptr(), tensor.numel() * tensor.element_size());
    }
}
