package dev.torchane.engine.jvm;

import dev.torchane.testing.OnCoreAi;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@link ImagesTest} on Core AI. */
@Tag("full")
@ExtendWith(OnCoreAi.class)
class ImagesOnCoreAiTest extends ImagesTest {}
