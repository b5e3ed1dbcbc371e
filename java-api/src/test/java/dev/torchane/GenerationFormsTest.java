package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.grammar.Grammar;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.testing.TinyBundle;
import dev.torchane.testing.TinyTokenizer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every option gives the same result, however the generation is had. */
class GenerationFormsTest {

    /** A way to have a generation: its result, as the last listener hears it, with the tokens and texts on the way. */
    interface Form {
        void generate(CausalLM lm, int[] prompt, GenerateOptions options) throws Exception;
    }

    static final Map<String, Form> FORMS = new LinkedHashMap<>();

    static {
        FORMS.put("awaited", CausalLM::generate);
        FORMS.put("in the background", (lm, prompt, options) -> {
            try {
                lm.generateAsync(prompt, options).get();
            } catch (ExecutionException e) {
                throw (Exception) e.getCause();
            }
        });
        FORMS.put("streamed", (lm, prompt, options) -> {
            try (Stream<Token> tokens = lm.stream(prompt, options)) {
                tokens.forEach(token -> {});
            }
        });
        FORMS.put("published", (lm, prompt, options) -> {
            CompletableFuture<Void> over = new CompletableFuture<>();
            lm.publisher(prompt, options).subscribe(new OneByOne(over));
            try {
                over.get();
            } catch (ExecutionException e) {
                throw (Exception) e.getCause();
            }
        });
        FORMS.put("in a session", (lm, prompt, options) -> {
            try (Session session = lm.newSession()) {
                session.generate(prompt, options);
            }
        });
        FORMS.put("streamed in a session", (lm, prompt, options) -> {
            try (Session session = lm.newSession();
                    Stream<Token> tokens = session.stream(prompt, options)) {
                tokens.forEach(token -> {});
            }
        });
        FORMS.put("in a batch", (lm, prompt, options) -> {
            BatchRequest another = BatchRequest.of(new int[] {3, 4, 5}, GenerateOptions.defaults());
            try {
                lm.generateBatch(List.of(another, BatchRequest.of(prompt, options), another));
            } catch (BatchException e) {
                throw (Exception) e.getCause();
            }
        });
    }

    /** Asks for one token at a time. */
    private record OneByOne(CompletableFuture<Void> over, List<Flow.Subscription> subscription)
            implements Flow.Subscriber<Token> {

        OneByOne(CompletableFuture<Void> over) {
            this(over, new ArrayList<>());
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription.add(given);
            given.request(1);
        }

        @Override
        public void onNext(Token token) {
            subscription.getFirst().request(1);
        }

        @Override
        public void onError(Throwable failure) {
            over.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            over.complete(null);
        }
    }

    private record Heard(Generation end, String text, List<Token> tokens, String failure) {}

    private static final String SCRIPT = "A\uD83D\uDE00 STOP?\u0985no";

    private static CausalLM lm;

    @BeforeAll
    static void open(@TempDir Path folder) {
        lm = CausalLM.open(
                TinyBundle.write(folder, GenerationFormsTest::next),
                CausalLMOptions.builder().threads(1).build());
    }

    @AfterAll
    static void close() {
        lm.close();
    }

    private static int id(int b) {
        return 3 + (b & 0xFF);
    }

    /** The script's bytes follow each other, END follows the last; behind {@code #} stands what is not a number. */
    private static int next(int id) {
        byte[] script = SCRIPT.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < script.length; i++) {
            if (id == id(script[i])) {
                return i + 1 < script.length ? id(script[i + 1]) : TinyTokenizer.END;
            }
        }
        return id == id('#') ? -1 : id == id('%') ? id('#') : id == id('$') ? id('%') : id('A');
    }

    private static GenerateOptions greedy() {
        return GenerateOptions.defaults().withMaxNewTokens(40);
    }

    private static Heard hear(Form form, int[] prompt, GenerateOptions options) throws Exception {
        List<Generation> ends = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        List<Token> tokens = new ArrayList<>();
        String failure = "";
        try {
            form.generate(
                    lm,
                    prompt,
                    options.withOnEnd(ends::add).withOnText(text::append).withOnToken(tokens::add));
        } catch (GenerationException e) {
            failure = e.getMessage();
            assertEquals(ends, List.of(e.partial()), "the partial result");
        }
        assertEquals(1, ends.size(), "ends");
        return new Heard(ends.getFirst(), text.toString(), tokens, failure);
    }

    /** What all forms give; the awaited one stands for all. */
    private static Generation inEachForm(int[] prompt, GenerateOptions options) throws Exception {
        Heard first = hear(FORMS.get("awaited"), prompt, options);
        for (Map.Entry<String, Form> form : FORMS.entrySet()) {
            Heard other = hear(form.getValue(), prompt, options);
            assertArrayEquals(first.end().ids(), other.end().ids(), form.getKey());
            assertEquals(first.end().text(), other.end().text(), form.getKey());
            assertEquals(first.end().thinking(), other.end().thinking(), form.getKey());
            assertEquals(first.end().toolCalls(), other.end().toolCalls(), form.getKey());
            assertEquals(first.end().reason(), other.end().reason(), form.getKey());
            assertEquals(first.end().logprobs(), other.end().logprobs(), form.getKey());
            assertEquals(first.tokens(), other.tokens(), form.getKey());
            assertEquals(first.failure(), other.failure(), form.getKey());
            assertEquals(other.end().text(), other.text(), form.getKey() + ": the text in pieces");
            assertArrayEquals(
                    other.end().ids(),
                    other.tokens().stream()
                            .mapToInt(Token::id)
                            .filter(id -> id != Token.NONE)
                            .toArray(),
                    form.getKey());
        }
        return first.end();
    }

    private static int[] prompt(String text) {
        return lm.encode(text, true);
    }

    private static final int[] START = {id('?' + 1)};

    @Test
    void greedy_generation_stops_at_the_end_of_sequence_token_which_is_no_text() throws Exception {
        Generation end = inEachForm(START, greedy());
        assertEquals(SCRIPT, end.text());
        assertEquals(FinishReason.STOP, end.reason());
        assertEquals(TinyTokenizer.END, end.ids()[end.ids().length - 1]);
    }

    @Test
    void any_of_the_ids_that_end_a_generation_ends_it_and_is_no_text(@TempDir Path folder) throws Exception {
        for (int end : new int[] {id('T'), TinyTokenizer.END}) {
            Path bundle = TinyBundle.write(folder.resolve("eos" + end), GenerationFormsTest::next);
            Files.writeString(bundle.resolve("generation_config.json"), "{\"eos_token_id\": [%d, 271]}".formatted(end));
            try (CausalLM other = CausalLM.open(bundle, CausalLMOptions.defaults())) {
                Generation generation = other.generate(START, greedy());
                assertEquals(end == TinyTokenizer.END ? SCRIPT : "A\uD83D\uDE00 S", generation.text());
                assertEquals(FinishReason.STOP, generation.reason());
                assertEquals(end, generation.ids()[generation.ids().length - 1]);
            }
        }
    }

    @Test
    void a_limit_ends_with_length_also_in_the_middle_of_a_character() throws Exception {
        Generation end = inEachForm(START, greedy().withMaxNewTokens(3));
        assertEquals(FinishReason.LENGTH, end.reason());
        assertEquals("A\uFFFD", end.text());
        assertEquals(3, end.ids().length);
    }

    @Test
    void no_new_tokens_means_none() throws Exception {
        Generation end = inEachForm(START, greedy().withMaxNewTokens(0));
        assertEquals(0, end.ids().length);
        assertEquals("", end.text());
        assertEquals(FinishReason.LENGTH, end.reason());
    }

    @Test
    void a_stop_string_across_tokens_and_behind_split_characters_ends_with_stop() throws Exception {
        Generation end = inEachForm(START, greedy().withStop("STOP", "never"));
        assertEquals("A\uD83D\uDE00 ", end.text());
        assertEquals(FinishReason.STOP, end.reason());
        assertEquals(id('P'), end.ids()[end.ids().length - 1]);
        Generation inCharacter = inEachForm(START, greedy().withStop("\uD83D\uDE00 S"));
        assertEquals("A", inCharacter.text());
    }

    @Test
    void what_may_become_a_stop_string_comes_when_it_does_not() throws Exception {
        assertEquals(
                SCRIPT, inEachForm(START, greedy().withStop("STOP!", "nope")).text());
        Generation cut = inEachForm(START, greedy().withStop("STOP!").withMaxNewTokens(9));
        assertEquals("A\uD83D\uDE00 STO", cut.text());
        assertEquals(FinishReason.LENGTH, cut.reason());
    }

    @Test
    void sampling_with_a_seed_repeats_itself() throws Exception {
        Sampling sampling = Sampling.temperature(0.7)
                .withTopK(100)
                .withTopP(0.9)
                .withMinP(0.01)
                .withRepetitionPenalty(1.1)
                .withPenalties(0.1, 0.1)
                .withBias(Map.of(TinyTokenizer.END, -100f))
                .withSeed(42);
        Generation end = inEachForm(START, greedy().withSampling(sampling));
        assertEquals(40, end.ids().length);
        assertTrue(Arrays.stream(end.ids()).distinct().count() > 20, Arrays.toString(end.ids()));
    }

    @Test
    void logprobs_are_those_of_the_model_whatever_the_sampling() throws Exception {
        Generation end = inEachForm(
                START,
                greedy().withLogprobs(2)
                        .withMaxNewTokens(5)
                        .withSampling(Sampling.temperature(2).withTopK(3).withSeed(1)));
        assertEquals(5, end.logprobs().size());
        double sum = Math.log(Math.E + TinyTokenizer.SIZE - 1);
        for (int i = 0; i < 5; i++) {
            int last = i == 0 ? START[0] : end.ids()[i - 1];
            var logprobs = end.logprobs().get(i);
            assertEquals(end.ids()[i], logprobs.chosen().id());
            assertEquals(
                    (end.ids()[i] == next(last) ? 1 : 0) - sum,
                    logprobs.chosen().value(),
                    1e-6);
            assertEquals(2, logprobs.top().size());
            assertEquals(next(last), logprobs.top().getFirst().id());
            assertEquals(1 - sum, logprobs.top().getFirst().value(), 1e-6);
            assertEquals(-sum, logprobs.top().get(1).value(), 1e-6);
        }
    }

    @Test
    void a_grammar_holds_the_output_and_ends_it_when_it_is_whole() throws Exception {
        for (Sampling sampling :
                List.of(Sampling.greedy(), Sampling.temperature(1.5).withTopK(5).withSeed(3))) {
            GenerateOptions options = greedy().withMaxNewTokens(200).withSampling(sampling);
            Generation number = inEachForm(START, options.withGrammar(Grammar.regex("-[0-9]{4}\\.[0-9]{2}")));
            assertTrue(number.text().matches("-[0-9]{4}\\.[0-9]{2}"), number.text());
            assertEquals(FinishReason.STOP, number.reason());
            Generation choice = inEachForm(START, options.withGrammar(Grammar.choice(List.of("the world", "the é"))));
            assertTrue(List.of("the world", "the é").contains(choice.text()), choice.text());
            assertEquals(FinishReason.STOP, choice.reason());
            Generation json = inEachForm(
                    START,
                    options.withGrammar(Grammar.jsonSchema(
                            "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1,"
                                    + "\"maximum\":9},\"ok\":{\"type\":\"boolean\"}},\"required\":[\"n\",\"ok\"]}")));
            assertTrue(json.text().matches("\\{\\s*\"n\": ?[1-9],\\s*\"ok\": ?(true|false)\\s*\\}"), json.text());
            Generation gbnf = inEachForm(START, options.withGrammar(Grammar.gbnf("root ::= \"(\" [ab]{2} \")\"")));
            assertTrue(gbnf.text().matches("\\([ab]{2}\\)"), gbnf.text());
        }
    }

    @Test
    void a_grammar_that_the_limit_cuts_says_so() throws Exception {
        Generation cut =
                inEachForm(START, greedy().withMaxNewTokens(4).withGrammar(Grammar.regex("-[0-9]{4}\\.[0-9]{2}")));
        assertEquals(FinishReason.LENGTH, cut.reason());
        assertEquals(4, cut.text().length());
    }

    @Test
    void a_time_that_is_up_ends_with_cancelled() throws Exception {
        Generation end = inEachForm(START, greedy().withTimeout(Duration.ZERO));
        assertEquals(FinishReason.CANCELLED, end.reason());
        assertEquals(0, end.ids().length);
        assertEquals(
                FinishReason.STOP,
                inEachForm(START, greedy().withTimeout(Duration.ofMinutes(5))).reason());
    }

    @Test
    void a_cancelled_generation_keeps_its_text() throws Exception {
        for (Form form : FORMS.values()) {
            Cancellation cancellation = new Cancellation();
            List<Generation> ends = new ArrayList<>();
            form.generate(
                    lm,
                    START,
                    greedy().withCancellation(cancellation)
                            .withOnEnd(ends::add)
                            .withStop("STOP!")
                            .withOnToken(token -> {
                                if (token.id() == id('O')) {
                                    cancellation.cancel();
                                }
                            }));
            assertEquals(FinishReason.CANCELLED, ends.getFirst().reason());
            assertEquals("A\uD83D\uDE00 STO", ends.getFirst().text());
        }
    }

    @Test
    void logits_that_are_no_numbers_keep_what_was_generated_and_are_never_token_0() throws Exception {
        Generation end = inEachForm(new int[] {id('$')}, greedy());
        assertEquals(FinishReason.ERROR, end.reason());
        assertEquals("%#", end.text());
        assertArrayEquals(new int[] {id('%'), id('#')}, end.ids());
        GenerationException failure =
                assertThrows(GenerationException.class, () -> lm.generate(new int[] {id('$')}, greedy()));
        assertTrue(failure.getMessage().contains("after 2 tokens"), failure.getMessage());
        assertTrue(failure.getMessage().contains("not finite"), failure.getMessage());
    }

    @Test
    void a_listener_that_throws_ends_the_generation_which_keeps_its_text() throws Exception {
        for (Form form : FORMS.values()) {
            IllegalArgumentException thrown = new IllegalArgumentException("I do not like it");
            GenerationException failure = assertThrows(
                    GenerationException.class,
                    () -> form.generate(lm, START, greedy().withOnText(text -> {
                        if (text.contains("S")) {
                            throw thrown;
                        }
                    })));
            assertEquals(thrown, failure.getCause());
            assertEquals("A\uD83D\uDE00 S", failure.partial().text());
            assertEquals(FinishReason.ERROR, failure.partial().reason());
        }
        assertEquals(SCRIPT, lm.generate(START, greedy()).text(), "the model goes on");
    }

    @Test
    void prompts_that_fill_the_context_get_one_token_and_longer_ones_are_refused_by_name() throws Exception {
        int[] full = new int[lm.maxLen()];
        Arrays.fill(full, id('A'));
        Generation one = inEachForm(full, greedy());
        assertEquals(FinishReason.LENGTH, one.reason());
        assertEquals(1, one.ids().length);
        Generation few = inEachForm(Arrays.copyOf(full, full.length - 3), greedy());
        assertEquals(FinishReason.LENGTH, few.reason());
        assertEquals(4, few.ids().length);
        for (Form form : FORMS.values()) {
            var refusal = assertThrows(
                    dev.torchane.llm.ContextOverflowException.class,
                    () -> form.generate(lm, Arrays.copyOf(full, full.length + 1), greedy()));
            assertTrue(refusal.getMessage().contains("maxLen"), refusal.getMessage());
            assertThrows(IllegalArgumentException.class, () -> form.generate(lm, new int[0], greedy()));
            assertThrows(IllegalArgumentException.class, () -> form.generate(lm, new int[] {9999}, greedy()));
        }
    }

    @Test
    void figures_come_with_every_result() throws Exception {
        Generation end = inEachForm(prompt("hey"), greedy().withMaxNewTokens(5));
        assertEquals(prompt("hey").length, end.stats().promptTokens());
        assertEquals(5, end.stats().newTokens());
        assertEquals(0, end.stats().cachedTokens());
        assertTrue(end.stats().prefillNanos() > 0 && end.stats().decodeNanos() > 0);
        assertTrue(end.stats().samplingNanos() > 0
                && end.stats().samplingNanos() < end.stats().decodeNanos());
    }
}
