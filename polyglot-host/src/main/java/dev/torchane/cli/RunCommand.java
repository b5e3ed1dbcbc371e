package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Session;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code run MODEL|BUNDLE PROMPT}. */
@Command(
        name = "run",
        description = "Generates text from a model or a bundle; a model that is not built yet is built first.",
        mixinStandardHelpOptions = true)
final class RunCommand implements Runnable {

    @Parameters(index = "0", paramLabel = "MODEL", description = "Bundle, Hugging Face directory, GGUF file or id.")
    private String model = "";

    @Parameters(index = "1", paramLabel = "PROMPT", description = "What to ask.")
    private String prompt = "";

    @Option(
            names = "--draft",
            paramLabel = "MODEL",
            description = "A smaller model with the same tokens, which proposes some of the answer; the same answer.")
    private Optional<String> draft = Optional.empty();

    @Mixin
    private GenerateFlags generate = new GenerateFlags();

    @Mixin
    private ModelOptions options = new ModelOptions();

    @Mixin
    private ChunkFlags chunks = new ChunkFlags();

    @Mixin
    private EngineFlags engine = new EngineFlags();

    @Override
    public void run() {
        GenerateOptions wanted = generate.options();
        Answer.Clock clock = new Answer.Clock();
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            CausalLMOptions resolved = engine.applyTo(options.builder(progress)).build();
            try (CausalLM lm = chunks.open(model, resolved)) {
                if (draft.isPresent()) {
                    try (CausalLM smaller = CausalLM.fromPretrained(draft.get(), resolved);
                            Session session = smaller.newSession()) {
                        answer(lm, wanted.withDraftModel(session), progress, clock);
                    }
                } else {
                    answer(lm, wanted, progress, clock);
                }
                AotCache.makeIfAsked(lm.bundle());
            }
        }
    }

    private void answer(CausalLM lm, GenerateOptions wanted, ConsoleProgress progress, Answer.Clock clock) {
        progress.finish();
        Answer.print(lm, prompt, wanted, clock);
    }
}
