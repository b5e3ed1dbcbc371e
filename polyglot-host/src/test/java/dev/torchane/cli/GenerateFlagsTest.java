package dev.torchane.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.GenerateOptions;
import dev.torchane.TorchAneException;
import dev.torchane.llm.Sampling;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class GenerateFlagsTest {

    private static GenerateOptions parsed(String... arguments) {
        return CommandLine.populateCommand(new GenerateFlags(), arguments).options();
    }

    @Test
    void without_flags_it_is_greedy_with_256_tokens_through_the_template() {
        GenerateOptions options = parsed();
        assertEquals(Sampling.greedy(), options.sampling());
        assertEquals(256, options.maxNewTokens());
        assertFalse(options.raw());
        assertEquals(Optional.empty(), options.grammar());
        assertEquals(Optional.empty(), options.timeout());
    }

    @Test
    void each_flag_is_an_option() {
        GenerateOptions options = parsed(
                "--temperature=0.7 --top-k=40 --top-p=0.9 --min-p=0.05 --seed=7 --repetition-penalty=1.1 --stop=### --stop=END"
                        .split(" "));
        assertEquals(
                Sampling.temperature(0.7)
                        .withTopK(40)
                        .withTopP(0.9)
                        .withMinP(0.05)
                        .withSeed(7)
                        .withRepetitionPenalty(1.1),
                options.sampling());
        assertEquals(List.of("###", "END"), options.stops());
        GenerateOptions more = parsed("--max-tokens=9", "--raw", "--timeout=1.5", "--hide-thinking");
        assertEquals(9, more.maxNewTokens());
        assertTrue(more.raw());
        assertEquals(Optional.of(Duration.ofMillis(1500)), more.timeout());
        assertEquals(GenerateOptions.Thinking.SEPARATED, more.thinking());
    }

    @Test
    void asking_for_a_draw_makes_the_temperature_1_unless_it_is_given() {
        assertEquals(1f, parsed("--top-k=5").sampling().temperature());
        assertEquals(0f, parsed("--top-k=5", "--temperature=0").sampling().temperature());
    }

    @Test
    void one_form_of_the_answer_can_be_asked_for(@TempDir Path folder) throws IOException {
        Path schema = Files.writeString(folder.resolve("schema.json"), "{\"type\":\"integer\"}");
        Path grammar = Files.writeString(folder.resolve("answer.gbnf"), "root ::= \"yes\" | \"no\"");
        for (String[] form : new String[][] {
            {"--json"},
            {"--json-schema", schema.toString()},
            {"--grammar", grammar.toString()},
            {"--regex", "[0-9]+"},
            {"--choice", "yes", "--choice", "no"}
        }) {
            assertTrue(parsed(form).grammar().isPresent(), form[0]);
        }
        assertThrows(CommandLine.MutuallyExclusiveArgsException.class, () -> parsed("--json", "--regex", "a"));
        String missing = assertThrows(TorchAneException.class, () -> parsed("--grammar", "nowhere.gbnf"))
                .getMessage();
        assertTrue(missing.contains("nowhere.gbnf"), missing);
    }
}
