package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code demo [PROMPT]}. */
@Command(
        name = "demo",
        description =
                "Sets everything up and generates text from a real model, SmolLM2-135M; the second time takes seconds.",
        mixinStandardHelpOptions = true)
final class DemoCommand implements Runnable {

    @Parameters(arity = "0..1", paramLabel = "PROMPT", description = "What to ask; default: \"${DEFAULT-VALUE}\".")
    private String prompt = "What is the capital of France?";

    @Option(names = "--max-tokens", description = "Limit on new tokens; default ${DEFAULT-VALUE}.")
    private int maxTokens = 64;

    @Mixin
    private ModelOptions options = new ModelOptions();

    @Mixin
    private EngineFlags engine = new EngineFlags();

    @Override
    public void run() {
        Answer.Clock clock = new Answer.Clock();
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            Path model = DemoModel.fetch(progress.installation());
            CausalLMOptions resolved = engine.applyTo(options.builder(progress)).build();
            try (CausalLM lm = CausalLM.fromPretrained(model, resolved)) {
                progress.finish();
                System.out.println("> " + prompt);
                Answer.print(lm, prompt, GenerateOptions.defaults().withMaxNewTokens(maxTokens), clock);
                System.err.println("weights: " + lm.manifest().options().get("weights") + ", target "
                        + lm.manifest().target() + "; bundle " + lm.bundle());
                System.err.println(BuildReport.line(lm.manifest()));
                progress.summary();
                AotCache.makeIfAsked(lm.bundle());
            }
        }
    }
}
