package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;

/** Which form of the kernels a program gets. */
final class KernelChoice {

    private KernelChoice() {}

    static Kernels kernels(EngineOptions options) {
        return new ScalarKernels();
    }
}
