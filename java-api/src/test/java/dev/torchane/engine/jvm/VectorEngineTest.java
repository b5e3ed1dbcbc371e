package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;
import org.junit.jupiter.api.BeforeAll;

/** The engine on the Vector API, in the width this machine prefers. */
class VectorEngineTest extends EngineContractTest {

    @BeforeAll
    static void warmUp() throws InterruptedException {
        WarmKernels.instance().await();
    }

    @Override
    EngineOptions options() {
        return EngineOptions.defaults().withThreads(2);
    }
}
