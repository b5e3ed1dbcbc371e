package dev.torchane.engine.jvm;

import dev.torchane.testing.OnCoreAi;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@link OperationsTest} on Core AI. */
@Tag("full")
@ExtendWith(OnCoreAi.class)
class OperationsOnCoreAiTest extends OperationsTest {

    /** Core AI clamps windows, and indices are errors of its own. */
    @Test
    @Disabled("what is outside is for Core AI to say")
    @Override
    void placesOutsideATensorAreRefused() {}
}
