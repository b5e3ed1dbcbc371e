package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
                progress.finish();
                Answer.print(lm, prompt, wanted, clock);
                AotCache.makeIfAsked(lm.bundle());
            }
        }
    }
}
