package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
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

    @Option(names = "--max-tokens", description = "Limit on new tokens; default ${DEFAULT-VALUE}.")
    private int maxTokens = 256;

    @Option(names = "--raw", description = "Complete the prompt as it stands, without the model's chat template.")
    private boolean raw;

    @Mixin
    private ModelOptions options = new ModelOptions();

    @Mixin
    private EngineFlags engine = new EngineFlags();

    @Override
    public void run() {
        Answer.Clock clock = new Answer.Clock();
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            CausalLMOptions resolved = engine.applyTo(options.builder(progress)).build();
            try (CausalLM lm = CausalLM.fromPretrained(model, resolved)) {
                progress.finish();
                Answer.print(lm, prompt, raw, maxTokens, clock);
                AotCache.makeIfAsked(lm.bundle());
            }
        }
    }
}
