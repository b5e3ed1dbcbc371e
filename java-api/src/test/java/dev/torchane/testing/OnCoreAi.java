package dev.torchane.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.torchane.engine.Engine;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Makes {@code coreai} the engine of a class of tests, which is skipped where there is no environment for it. */
public final class OnCoreAi implements BeforeAllCallback, AfterAllCallback {

    private static final String PROPERTY = "torchane.engine";

    private String before;
    private BundledProgram.Kept kept;

    @Override
    public void beforeAll(ExtensionContext context) {
        Engine engine = Engine.named("coreai");
        assumeTrue(engine.available(), engine::unavailableReason);
        before = System.getProperty(PROPERTY);
        // As long as a program is loaded, the process that runs them stays.
        kept = BundledProgram.keep(engine);
        System.setProperty(PROPERTY, "coreai");
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (kept == null) {
            return;
        }
        kept.close();
        if (before == null) {
            System.clearProperty(PROPERTY);
        } else {
            System.setProperty(PROPERTY, before);
        }
    }
}
