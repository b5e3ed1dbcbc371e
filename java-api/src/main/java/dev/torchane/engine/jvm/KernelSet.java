package dev.torchane.engine.jvm;

import java.util.List;
import java.util.Set;

/** Which form of each kernel to call now. */
interface KernelSet {

    /** For a linear layer of some rows. */
    Kernels linear(Panels w, int rows);

    /** For attention over keys and values that are kept so. */
    Kernels attention(StateMemory memory);

    Kernels rmsNorm();

    Kernels gated();

    /** Says that weights of this form will be used. */
    default void expect(Panels w) {}

    /** Says that weights of these forms will be used, the one that most weights have first. */
    default void expect(List<Panels> forms) {}

    /** Says that the first run is over, and how states are kept. */
    default void firstRunEnded(Set<StateMemory> memories) {}

    /** Always the same form. */
    static KernelSet of(Kernels kernels) {
        return new KernelSet() {
            @Override
            public Kernels linear(Panels w, int rows) {
                return kernels;
            }

            @Override
            public Kernels attention(StateMemory memory) {
                return kernels;
            }

            @Override
            public Kernels rmsNorm() {
                return kernels;
            }

            @Override
            public Kernels gated() {
                return kernels;
            }
        };
    }
}
