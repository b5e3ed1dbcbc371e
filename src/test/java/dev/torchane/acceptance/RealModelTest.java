package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.torchane.BatchRequest;
import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import dev.torchane.Session;
import dev.torchane.cli.DemoModel;
import dev.torchane.engine.Engine;
import dev.torchane.llm.ContextOverflowException;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.venv.InstallProgress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SmolLM2-135M with its real weights, from the GGUF file to text. */
class RealModelTest {

    private static final CausalLMOptions OPTIONS = CausalLMOptions.defaults();

    private static Path gguf;
    private static Path bundle;

    @BeforeAll
    static void build() {
        gguf = DemoModel.fetch(InstallProgress.none());
        bundle = CausalLM.build(gguf, OPTIONS);
    }

    private static GenerateOptions tokens(int limit) {
        return GenerateOptions.defaults().withMaxNewTokens(limit);
    }

    @Test
    void a_question_gets_a_sensible_answer_that_streams_as_it_is_returned() {
        StringBuilder streamed = new StringBuilder();
        try (CausalLM lm = CausalLM.fromPretrained(gguf, OPTIONS)) {
            Generation answer =
                    lm.generate("What is the capital of France?", tokens(64).withOnText(streamed::append));
            assertTrue(answer.text().contains("Paris"), answer.text());
            assertEquals(FinishReason.STOP, answer.reason());
            assertEquals(answer.text(), streamed.toString());
            assertFalse(answer.text().contains("<|im_end|>"), answer.text());
        }
    }

    @Test
    void the_same_prompt_gives_the_same_ids_again_and_after_another_prompt() {
        try (CausalLM lm = CausalLM.open(bundle, OPTIONS)) {
            int[] first = lm.generate("Name three colours.", tokens(24)).ids();
            lm.generate("Something else entirely, to leave other keys and values behind.", tokens(8));
            assertArrayEquals(
                    first, lm.generate("Name three colours.", tokens(24)).ids());
        }
    }

    @Test
    void a_prompt_fed_in_pieces_gives_the_same_bits_as_fed_at_once() {
        assumeTrue(Engine.defaultName().equals("jvm"), "bits are the promise of the jvm engine alone");
        try (CausalLM lm = CausalLM.open(bundle, OPTIONS)) {
            int[] ids = lm.encode("The quick brown fox jumps over the lazy dog. ".repeat(9), true);
            assertTrue(ids.length > 64, "a prompt that needs more than one window");
            float[] whole = lm.feed(ids);
            lm.reset();
            float[] pieces = null;
            for (int from = 0; from < ids.length; from += 7) {
                pieces = lm.feed(Arrays.copyOfRange(ids, from, Math.min(from + 7, ids.length)));
            }
            assertArrayEquals(whole, pieces);
        }
    }

    @Test
    void a_batch_of_eight_gives_the_ids_of_eight_single_runs() {
        try (CausalLM lm = CausalLM.open(bundle, OPTIONS)) {
            List<BatchRequest> requests = Stream.of(
                            "What is the capital of France?",
                            "Name three colours.",
                            "Count from one to five.",
                            "Why is the sky blue?",
                            "Say hello.",
                            "What is two and two?",
                            "Who wrote Hamlet?",
                            "Is water wet? Answer in a long and winding sentence, with many clauses.")
                    .map(prompt -> BatchRequest.of(
                            prompt,
                            tokens(4 + prompt.length() / 4)
                                    .withSampling(
                                            prompt.length() % 2 == 0
                                                    ? Sampling.greedy()
                                                    : Sampling.temperature(0.8).withSeed(7))))
                    .toList();
            List<Generation> together = lm.generateBatch(requests);
            for (int i = 0; i < requests.size(); i++) {
                String prompt = ((BatchRequest.Prompt.Text) requests.get(i).prompt()).text();
                Generation alone = lm.generate(prompt, requests.get(i).options());
                assertArrayEquals(alone.ids(), together.get(i).ids(), prompt);
                assertEquals(alone.text(), together.get(i).text());
            }
        }
    }

    @Test
    void a_saved_conversation_goes_on_in_a_new_process_as_it_would_have_here(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("conversation");
        Generation expected;
        try (CausalLM lm = CausalLM.open(bundle, OPTIONS);
                Session session = lm.newSession()) {
            session.generate("What is the capital of France?", tokens(16));
            session.save(file);
            expected = session.generate("And of Italy?", tokens(16));
        }
        Path source = Files.writeString(folder.resolve("GoOn.java"), """
                import dev.torchane.*;
                import java.nio.file.Path;

                class GoOn {
                    public static void main(String[] arguments) {
                        try (var lm = CausalLM.open(Path.of(arguments[0]), CausalLMOptions.defaults());
                                var session = lm.restoreSession(Path.of(arguments[1]))) {
                            var answer = session.generate("And of Italy?", GenerateOptions.defaults().withMaxNewTokens(16));
                            System.out.println(java.util.Arrays.toString(answer.ids()) + " " + answer.stats().cachedTokens());
                        }
                    }
                }
                """);
        JavaProcess second = JavaProcess.run(
                JavaProcess.classPath(entry -> true), List.of(), source.toString(), bundle.toString(), file.toString());
        assertEquals(0, second.exitCode(), second.err());
        String ids = Arrays.toString(expected.ids()) + " " + expected.stats().cachedTokens();
        assertTrue(expected.stats().cachedTokens() > 30, ids);
        assertTrue(second.out().contains(ids), ids + " expected, found " + second.out());
    }

    @Test
    void a_prompt_beyond_the_context_names_both_lengths() {
        try (CausalLM lm = CausalLM.open(bundle, OPTIONS)) {
            int[] ids = new int[lm.maxLen() + 1];
            Arrays.fill(ids, 10);
            ContextOverflowException refusal =
                    assertThrows(ContextOverflowException.class, () -> lm.generate(ids, tokens(1)));
            assertTrue(refusal.getMessage().contains(String.valueOf(ids.length)), refusal.getMessage());
            assertTrue(refusal.getMessage().contains("maxLen"), refusal.getMessage());
        }
    }

    @Test
    void an_empty_prompt_is_refused() {
        try (CausalLM lm = CausalLM.open(bundle, OPTIONS)) {
            assertThrows(IllegalArgumentException.class, () -> lm.generate(new int[0], tokens(4)));
        }
    }

    @Test
    void after_close_every_call_is_refused_and_closing_again_does_nothing() {
        CausalLM lm = CausalLM.open(bundle, OPTIONS);
        lm.close();
        lm.close();
        assertThrows(IllegalStateException.class, () -> lm.feed(1));
        assertThrows(IllegalStateException.class, () -> lm.generate("x", tokens(1)));
        assertThrows(IllegalStateException.class, lm::reset);
    }

    @Test
    void a_second_process_answers_without_loading_a_class_of_graalpy(@TempDir Path folder) throws Exception {
        Path classes = folder.resolve("classes.txt");
        JavaProcess second = JavaProcess.run(
                JavaProcess.classPath(entry -> true),
                List.of("-Xlog:class+load:file=" + classes),
                "dev.torchane.cli.Main",
                "run",
                gguf.toString(),
                "What is the capital of France?",
                "--max-tokens",
                "16");
        assertEquals(0, second.exitCode(), second.err());
        assertTrue(second.out().contains("Paris"), second.out());
        try (Stream<String> lines = Files.lines(classes)) {
            Set<String> graal = lines.filter(line -> line.contains("com.oracle.graal.python")
                            || line.contains("org.graalvm.polyglot")
                            || line.contains("com.oracle.truffle"))
                    .collect(Collectors.toSet());
            assertEquals(Set.of(), graal);
        }
    }

    @Test
    void the_api_alone_runs_a_bundle_and_names_the_artifact_that_builds_one() throws Exception {
        String apiOnly = JavaProcess.classPath(entry ->
                !entry.contains("graalvm") && !entry.contains("polyglot-host") && !entry.contains("venv-setup"));
        Path source = Files.writeString(Files.createTempDirectory("sample").resolve("Sample.java"), """
                import dev.torchane.*;

                class Sample {
                    public static void main(String[] arguments) {
                        try (var lm = CausalLM.fromPretrained(arguments[0], CausalLMOptions.defaults())) {
                            System.out.println(lm.generate("What is the capital of France?",
                                    GenerateOptions.defaults().withMaxNewTokens(16)).text());
                        }
                    }
                }
                """);
        JavaProcess run = JavaProcess.run(apiOnly, List.of(), source.toString(), bundle.toString());
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("Paris"), run.out());

        Path unbuilt = Files.createSymbolicLink(source.resolveSibling("unbuilt.gguf"), gguf.toAbsolutePath());
        JavaProcess refused = JavaProcess.run(apiOnly, List.of(), source.toString(), unbuilt.toString());
        assertTrue(refused.exitCode() != 0);
        assertTrue(refused.err().contains("dev.torchane:torch-ane-polyglot-host"), refused.err());
    }

    @Test
    void the_jshell_sample_answers_two_questions() throws Exception {
        Path samples = Path.of("..", "..", "samples", "jshell").toAbsolutePath().normalize();
        JavaProcess shell = JavaProcess.jshell(samples.resolve("torch-ane.jsh"), samples.resolve("chat.jsh"));
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().contains("Paris"), shell.out() + shell.err());
        assertTrue(shell.out().contains("> Name three colours."), shell.out() + shell.err());
    }
}
