package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;

/** The engine on the Vector API, in the width this machine prefers. */
class VectorEngineTest extends EngineContractTest {
    @Override
    EngineOptions options() {
        return EngineOptions.defaults().withThreads(2);
    }
}
