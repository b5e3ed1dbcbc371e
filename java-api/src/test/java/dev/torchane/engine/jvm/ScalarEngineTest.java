package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;

/** The engine on its plain Java kernels. */
class ScalarEngineTest extends EngineContractTest {
    @Override
    EngineOptions options() {
        return EngineOptions.defaults().withThreads(2).withVector(false);
    }
}
