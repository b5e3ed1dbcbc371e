package dev.torchane.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CausalLMOptions;
import dev.torchane.CompileOptions;
import dev.torchane.build.Target;
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

    @Test
    void propertiesChooseEngineHardwareAndTargetWhereNobodyElseDoes() {
        assertEquals("jvm", CausalLMOptions.defaults().engine());
        assertEquals(Target.CPU, CausalLMOptions.defaults().build().target());
        System.setProperty("torchane.engine", "coreai");
        System.setProperty("torchane.units", "ane");
        try {
            assertEquals("coreai", CausalLMOptions.defaults().engine());
            assertEquals(Target.ANE, CausalLMOptions.defaults().build().target());
            assertEquals(
                    ComputeUnits.ANE, CompileOptions.defaults().engineOptions().units());
            System.setProperty("torchane.units", "tpu");
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, EngineOptions::defaults);
            assertEquals("-Dtorchane.units must be ane, gpu, cpu or all, found 'tpu'", e.getMessage());
        } finally {
            System.clearProperty("torchane.engine");
            System.clearProperty("torchane.units");
        }
    }
}
