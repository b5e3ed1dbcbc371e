package dev.torchane.engine.jvm;

import dev.torchane.program.Bundle;
import dev.torchane.program.Literal;
import java.lang.foreign.MemorySegment;

/** Where the bytes of a program's blobs come from. */
@FunctionalInterface
interface WeightSource {

    /** The packed, little-endian bytes of a blob. */
    MemorySegment bytes(Literal.Blob blob);

    /** Says that weights were packed, so that what they were packed from is not needed soon. */
    default void packed() {}

    /** The weights of a bundle, whose file gives its pages back when they have been packed. */
    static WeightSource of(Bundle bundle) {
        return new WeightSource() {
            @Override
            public MemorySegment bytes(Literal.Blob blob) {
                return bundle.data(blob);
            }

            @Override
            public void packed() {
                bundle.weights().forget();
            }
        };
    }
}
