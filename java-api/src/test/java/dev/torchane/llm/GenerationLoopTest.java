package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GenerationLoopTest {

    private static final Set<Integer> NO_EOS = Set.of();

    private static int[] prompt(int length) {
        int[] ids = new int[length];
        for (int i = 0; i < length; i++) {
            ids[i] = (i * 31 + 5) % CountingProgram.VOCAB;
        }
        return ids;
    }

    private static int[] expected(int[] prompt, int count) {
        List<Integer> tokens = new ArrayList<>(Arrays.stream(prompt).boxed().toList());
        int[] ids = new int[count];
        for (int i = 0; i < count; i++) {
            ids[i] = CountingProgram.next(tokens);
            tokens.add(ids[i]);
        }
        return ids;
    }

    private static TokenStream generate(CountingProgram program, int[] prompt, int count, Set<Integer> eos) {
        LanguageModel model = program.model();
        try (KvState state = model.newState()) {
            TokenStream stream = new TokenStream(TokenStream.Rules.of(Sampler.greedy(), eos, count));
            new GenerationLoop(model, state, prompt, stream, done -> {}).run();
            return stream;
        }
    }

    @Test
    void ids_do_not_depend_on_windows_ladder_or_how_engines_compute_rows() {
        for (int length : new int[] {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100}) {
            for (boolean wholeWindows : new boolean[] {false, true}) {
                for (ModelShape shape : List.of(
                        CountingProgram.shape(128, 32, 32, 64, 128),
                        CountingProgram.shape(128, 64, 64, 128),
                        CountingProgram.shape(128, 8, 8, 16, 128),
                        CountingProgram.shape(125, 128, 128))) {
                    CountingProgram program = new CountingProgram(shape);
                    program.wholeWindows = wholeWindows;
                    int[] ids = generate(program, prompt(length), 20, NO_EOS).ids();
                    assertArrayEquals(expected(prompt(length), 20), ids, length + " tokens, " + shape);
                }
            }
        }
    }

    @Test
    void a_rung_that_is_climbed_keeps_what_is_computed() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(64, 16, 16, 64));
        LanguageModel model = program.model();
        try (KvState state = model.newState()) {
            model.feed(state, prompt(16), done -> {});
            program.calls.clear();
            model.feed(state, new int[] {3}, done -> {});
            assertEquals(List.of("decode_64 start=16 rows=0+1"), program.calls);
            assertEquals(64, state.capacity());
        }
    }

    @Test
    void a_context_smaller_than_the_default_window_works() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(128, 128, 128));
        assertArrayEquals(
                expected(prompt(20), 5),
                generate(program, prompt(20), 5, NO_EOS).ids());
    }

    @Test
    void an_empty_prompt_is_refused() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(64, 16, 64));
        String message = assertThrows(IllegalArgumentException.class, () -> generate(program, new int[0], 5, NO_EOS))
                .getMessage();
        assertTrue(message.contains("prompt is empty"), message);
    }

    @Test
    void an_id_outside_the_vocabulary_is_refused_before_anything_is_computed() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(64, 16, 64));
        assertThrows(IllegalArgumentException.class, () -> generate(program, new int[] {1, 97}, 5, NO_EOS));
        assertThrows(IllegalArgumentException.class, () -> generate(program, new int[] {-1}, 5, NO_EOS));
        assertEquals(List.of(), program.calls);
    }

    @Test
    void a_prompt_beyond_the_context_is_refused_with_both_numbers() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(60, 16, 64));
        ContextOverflowException refusal =
                assertThrows(ContextOverflowException.class, () -> generate(program, prompt(61), 5, NO_EOS));
        assertEquals(61, refusal.tokens());
        assertEquals(60, refusal.limit());
        assertTrue(refusal.getMessage().contains("maxLen"), refusal.getMessage());
    }

    @Test
    void a_generation_that_fills_the_context_keeps_its_tokens_and_ends_by_length() {
        for (int length : new int[] {59, 60}) {
            CountingProgram program = new CountingProgram(CountingProgram.shape(60, 16, 64));
            TokenStream result = generate(program, prompt(length), 64, NO_EOS);
            assertEquals(FinishReason.LENGTH, result.reason());
            assertArrayEquals(expected(prompt(length), 61 - length), result.ids());
        }
    }

    @Test
    void no_new_tokens_means_none() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(64, 16, 64));
        TokenStream result = generate(program, prompt(5), 0, NO_EOS);
        assertEquals(0, result.ids().length);
        assertEquals(FinishReason.LENGTH, result.reason());
    }

    @Test
    void an_end_of_sequence_token_is_the_last_and_stops() {
        int[] all = expected(prompt(5), 10);
        CountingProgram program = new CountingProgram(CountingProgram.shape(64, 16, 64));
        TokenStream result = generate(program, prompt(5), 10, Set.of(all[3], 96));
        assertEquals(FinishReason.STOP, result.reason());
        assertEquals(all[3], result.ids()[result.ids().length - 1]);
        assertTrue(result.ids().length <= 4);
    }

    @Test
    void logits_that_are_not_finite_are_an_error_and_never_token_0() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(64, 16, 64));
        program.broken = true;
        String message = assertThrows(TorchAneException.class, () -> generate(program, prompt(5), 5, NO_EOS))
                .getMessage();
        assertTrue(message.contains("not finite"), message);
    }

    @Test
    void trimming_and_feeding_again_equals_feeding_once() {
        CountingProgram program = new CountingProgram(CountingProgram.shape(64, 16, 16, 64));
        LanguageModel model = program.model();
        try (KvState state = model.newState()) {
            model.feed(state, prompt(13), done -> {});
            state.trim(5);
            float[] logits = model.feed(state, Arrays.copyOfRange(prompt(9), 5, 9), done -> {});
            assertEquals(expected(prompt(9), 1)[0], Sampler.argmax(logits));
        }
    }

    @Test
    void a_closed_state_is_refused() {
        LanguageModel model = new CountingProgram(CountingProgram.shape(64, 16, 64)).model();
        KvState state = model.newState();
        state.close();
        state.close();
        assertThrows(IllegalStateException.class, () -> model.feed(state, prompt(3), done -> {}));
    }
}
