package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.cache.CacheRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Real GGUF files give the tokens that llama.cpp computes from the same file: 32 greedy ones behind five prompts. Where
 * one differs, llama.cpp itself must have held both nearly equal: it rounds activations to 8 bits, which moves logits by
 * some tenths.
 */
@Tag("full")
class GreedyIdsTest {

    private static final List<String> PROMPTS = List.of(
            "The capital of France is",
            "Once upon a time, in a village by the sea,",
            "Water boils at 100 degrees Celsius because",
            "def fibonacci(n):\n",
            "1, 1, 2, 3, 5, 8, 13,");

    private static final double NEAR_TIE = 0.5;

    /** For each token that was given, how far its logit is below the largest. */
    private static final String LLAMA_CPP = """
            import json, sys

            from llama_cpp import Llama

            llama = Llama(sys.argv[1], n_ctx=256, n_batch=256, logits_all=True, verbose=False)
            answers = []
            for case in json.load(open(sys.argv[2])):
                llama.reset()
                llama.eval(case["prompt"] + case["given"])
                rows = llama.scores[len(case["prompt"]) - 1 :]
                tokens = llama.tokenize(case["text"].encode(), add_bos=True, special=True)
                gaps = [float(rows[i].max() - rows[i][token]) for i, token in enumerate(case["given"])]
                answers.append({"tokens": tokens, "gaps": gaps})
            json.dump(answers, open(sys.argv[3], "w"))
            """;

    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"gemma-3-270m-q4_k_m.gguf", "SmolLM2-135M-Instruct.Q4_1.gguf"})
    void tokensAreLlamaCppsOrAsLikely(String name) throws IOException, InterruptedException {
        Path cache = CacheRoot.locate();
        Path model = cache.resolve("demo").resolve(name);
        Path python = cache.resolve("peers/venv/bin/python");
        assumeTrue(Files.exists(model), () -> "no " + model + ": tools/gemma.sh or ./torch-ane demo fetches it");
        assumeTrue(Files.exists(python), () -> "no " + python + ": ./torch-ane bench prepares llama.cpp");

        List<ObjectNode> cases = generate(model);
        JsonNode answers = askLlamaCpp(python, model, cases);

        assertEquals(PROMPTS.size(), answers.size());
        for (int i = 0; i < cases.size(); i++) {
            ObjectNode own = cases.get(i);
            assertEquals(
                    answers.get(i).path("tokens").toString(), own.path("prompt").toString(), PROMPTS.get(i));
            JsonNode gaps = answers.get(i).path("gaps");
            int first = 0;
            while (first < gaps.size() && gaps.get(first).asDouble() == 0) {
                first++;
            }
            double gap = first < gaps.size() ? gaps.get(first).asDouble() : 0;
            System.out.println(name + ", \"" + PROMPTS.get(i).strip() + "\": " + first + " of " + gaps.size()
                    + " tokens the same" + (gap > 0 ? ", then llama.cpp's gap is " + gap : ""));
            assertTrue(gap <= NEAR_TIE, own + ": llama.cpp holds token " + first + " " + gap + " below its own");
        }
    }

    private static List<ObjectNode> generate(Path model) {
        List<ObjectNode> cases = new ArrayList<>();
        CausalLMOptions options = CausalLMOptions.defaults();
        GenerateOptions greedy = GenerateOptions.defaults().withMaxNewTokens(32);
        try (CausalLM lm = CausalLM.fromPretrained(model, options)) {
            for (String prompt : PROMPTS) {
                int[] ids = lm.encode(prompt, true);
                ObjectNode one = MAPPER.createObjectNode().put("text", prompt);
                one.set("prompt", MAPPER.valueToTree(ids));
                one.set("given", MAPPER.valueToTree(lm.generate(ids, greedy).ids()));
                cases.add(one);
            }
        }
        return cases;
    }

    private JsonNode askLlamaCpp(Path python, Path model, List<ObjectNode> cases)
            throws IOException, InterruptedException {
        Path script = Files.writeString(folder.resolve("greedy.py"), LLAMA_CPP);
        Path asked = Files.writeString(folder.resolve("cases.json"), MAPPER.writeValueAsString(cases));
        Path answered = folder.resolve("answers.json");
        Process process = new ProcessBuilder(
                        python.toString(), script.toString(), model.toString(), asked.toString(), answered.toString())
                .inheritIO()
                .start();
        assertEquals(0, process.waitFor(), "llama.cpp's process");
        return MAPPER.readTree(Files.readString(answered));
    }
}
