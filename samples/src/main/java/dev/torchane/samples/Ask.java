package dev.torchane.samples;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;

/** Asks a model a question: {@code Ask MODEL QUESTION}. */
public final class Ask {

    private Ask() {}

    /** Streams the answer to standard output. */
    public static void main(String[] arguments) {
        if (arguments.length != 2) {
            System.err.println("usage: Ask MODEL QUESTION");
            System.exit(2);
        }
        try (CausalLM lm = CausalLM.fromPretrained(arguments[0], CausalLMOptions.defaults())) {
            lm.generate(
                    arguments[1],
                    GenerateOptions.defaults().withMaxNewTokens(64).withOnText(System.out::print));
            System.out.println();
        }
    }
}
