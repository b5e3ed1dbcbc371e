package dev.torchane.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineOptionsTest {

    @Test
    void a_number_of_threads_that_makes_sense_is_kept() {
        assertEquals(64, EngineOptions.defaults().withThreads(64).threads());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1025, 100_000, Integer.MAX_VALUE})
    void a_number_of_threads_that_does_not_is_refused_before_any_is_started(int threads) {
        EngineOptions options = EngineOptions.defaults();
        String message = assertThrows(IllegalArgumentException.class, () -> options.withThreads(threads))
                .getMessage();
        assertTrue(message.contains("found " + threads), message);
    }
}
