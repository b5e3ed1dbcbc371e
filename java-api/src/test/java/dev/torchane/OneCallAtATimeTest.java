package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.testing.TinyBundle;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OneCallAtATimeTest {

    private final AtomicInteger freed = new AtomicInteger();
    private final OneCallAtATime calls = new OneCallAtATime(freed::incrementAndGet);

    @Test
    void given_a_running_call_when_a_listener_calls_back_then_it_is_refused_and_the_next_call_works() {
        String message = assertThrows(IllegalStateException.class, () -> calls.run(() -> calls.run(() -> 1)))
                .getMessage();
        assertTrue(message.contains("in use by another call"), message);
        assertEquals(2, calls.run(() -> 2));
    }

    @Test
    void given_a_call_that_throws_when_the_next_one_comes_then_it_works() {
        assertThrows(
                ArithmeticException.class,
                () -> calls.run(() -> {
                    throw new ArithmeticException("listener");
                }));
        assertEquals(3, calls.run(() -> 3));
    }

    @Test
    void given_a_running_call_when_it_is_closed_then_what_it_uses_is_freed_behind_it_and_the_exception_says_so() {
        AtomicInteger freedDuringCall = new AtomicInteger();
        String message = assertThrows(
                        IllegalStateException.class,
                        () -> calls.run(() -> {
                            calls.close(() -> {});
                            calls.close(() -> {});
                            freedDuringCall.set(freed.get());
                            throw new IllegalStateException("the program is closed");
                        }))
                .getMessage();
        assertEquals("this model was closed while a call was running", message);
        assertEquals(0, freedDuringCall.get());
        assertEquals(1, freed.get());
        assertThrows(IllegalStateException.class, () -> calls.run(() -> 1));
    }

    @Test
    void given_a_model_when_its_listener_generates_or_resets_then_that_is_refused_and_the_model_goes_on(
            @TempDir Path folder) {
        GenerateOptions three = GenerateOptions.defaults().withRaw(true).withMaxNewTokens(3);
        try (CausalLM lm = CausalLM.open(TinyBundle.write(folder), CausalLMOptions.defaults())) {
            String text = lm.generate("hello", three).text();
            for (GenerateOptions callingBack : List.of(
                    three.withOnText(_ -> lm.generate("a", three)),
                    three.withOnPrefill(_ -> lm.reset()),
                    three.withOnEnd(_ -> lm.reset()))) {
                Throwable refusal = assertThrows(GenerationException.class, () -> lm.generate("hello", callingBack))
                        .getCause();
                assertInstanceOf(IllegalStateException.class, refusal);
                assertTrue(refusal.getMessage().contains("in use by another call"), refusal.getMessage());
            }
            assertEquals(text, lm.generate("hello", three).text());
        }
    }

    @Test
    void given_missing_arguments_when_options_are_made_then_they_are_named() {
        GenerateOptions options = GenerateOptions.defaults();
        assertNames("sampling", () -> options.withSampling(null));
        assertNames("onText", () -> options.withOnText(null));
        assertNames("engine", () -> CausalLMOptions.builder().engine(null).build());
        assertNames("target", () -> CausalLMOptions.builder().target(null));
        assertNames("numerics", () -> CausalLMOptions.builder().numerics(null));
        assertNames("ladder", () -> CausalLMOptions.builder().ladder((Integer) null));
        assertNames("ladder", () -> CausalLMOptions.builder().ladder(-8));
        assertNames("bundle", () -> CausalLM.open(null, CausalLMOptions.defaults()));
        assertNames("idOrPath", () -> CausalLM.locate(null));
    }

    private static void assertNames(String argument, org.junit.jupiter.api.function.Executable misuse) {
        String message = assertThrows(IllegalArgumentException.class, misuse).getMessage();
        assertTrue(message.contains(argument), message);
    }
}
