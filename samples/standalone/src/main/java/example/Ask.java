package example;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;

public final class Ask {

    public static void main(String[] arguments) {
        try (CausalLM lm = CausalLM.fromPretrained(arguments[0], CausalLMOptions.defaults())) {
            var answer = lm.generate(arguments[1], GenerateOptions.defaults().withMaxNewTokens(48));
            System.out.println(answer.text());
        }
    }
}
