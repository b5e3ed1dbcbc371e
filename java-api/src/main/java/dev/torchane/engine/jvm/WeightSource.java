package dev.torchane.engine.jvm;

import dev.torchane.program.Literal;
import java.lang.foreign.MemorySegment;

/** Where the bytes of a program's blobs come from. */
@FunctionalInterface
interface WeightSource {

    /** The packed, little-endian bytes of a blob. */
    MemorySegment bytes(Literal.Blob blob);
}
