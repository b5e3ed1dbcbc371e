package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;

/** Which form of the kernels a program gets. */
final class KernelChoice {

    private static final boolean VECTOR =
            ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();

    private KernelChoice() {}

    /** Vector API kernels where the options and this JVM allow them, their scalar twins elsewhere. */
    static KernelSet kernels(EngineOptions options) {
        if (options.vector() && !VECTOR) {
            System.getLogger(JvmEngine.class.getName())
                    .log(
                            System.Logger.Level.INFO,
                            "the jvm engine runs on plain Java kernels; it is several times faster with"
                                    + " --add-modules jdk.incubator.vector");
        }
        return options.vector() && VECTOR ? WarmKernels.instance() : KernelSet.of(new ScalarKernels());
    }
}
