package dev.torchane.cli.bench;

import dev.torchane.text.ChatMessage;
import dev.torchane.text.Tokenizer;
import java.nio.file.Path;
import java.util.List;

/**
 * The ids that everybody gets.
 *
 * @param text at least 4,096 tokens of prose
 * @param question {@link #QUESTION} in the model's chat template
 */
record Prompts(int[] text, int[] question) {

    static final String QUESTION = "What is the capital of France?";

    private static final int TOKENS = 4096;

    private static final String PROSE = """
            The river rises in the hills north of the town, where three springs meet below a wall of grey stone. In spring it \
            carries snow water and is loud enough to be heard from the market; by August children cross it on foot. A mill \
            stood there until the flood of 1894, and its wheel lies in the garden of the school. People who come for the \
            first time ask about the bridge, which has five arches on one side and four on the other. The builders, so the \
            story goes, worked from both banks and did not speak the same language. Whoever measured it last found that the \
            halves differ by the length of a hand. On Saturdays there are stalls on it with bread, honey, wool and seeds.
            """;

    static Prompts of(Path bundle) {
        try (Tokenizer tokenizer = Tokenizer.open(bundle)) {
            StringBuilder text = new StringBuilder();
            int[] ids = new int[0];
            while (ids.length < TOKENS) {
                text.append(PROSE.repeat(8));
                ids = tokenizer.encode(text.toString(), true);
            }
            int[] question = tokenizer
                    .chatTemplate()
                    .map(chat -> tokenizer.encodeChat(chat.render(List.of(ChatMessage.user(QUESTION)), true)))
                    .orElseGet(() -> tokenizer.encode(QUESTION, true));
            return new Prompts(ids, question);
        }
    }
}
