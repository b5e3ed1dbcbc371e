package dev.torchane.engine.jvm;

/** Which form of each kernel to call now. */
interface KernelSet {

    /** For a linear layer of some rows. */
    Kernels linear(Panels w, int rows);

    /** For attention over keys and values of fp16, or fp32. */
    Kernels attention(boolean half);

    Kernels rmsNorm();

    Kernels gated();

    /** Says that weights of this form will be used. */
    default void expect(Panels w) {}

    /** Says that the first run is over. */
    default void firstRunEnded(boolean halfStates) {}

    /** Always the same form. */
    static KernelSet of(Kernels kernels) {
        return new KernelSet() {
            @Override
            public Kernels linear(Panels w, int rows) {
                return kernels;
            }

            @Override
            public Kernels attention(boolean half) {
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
