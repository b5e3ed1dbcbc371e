package dev.torchane.host;

import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import java.lang.foreign.MemorySegment;

/** Where encoded weights go. */
interface BlobFile {

    /** Appends a tensor's bytes, densely packed, and answers the literal that refers to them. */
    Literal.Blob append(TensorType type, MemorySegment data);
}
