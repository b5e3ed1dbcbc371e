package dev.torchane;

import dev.torchane.llm.FinishReason;
import dev.torchane.llm.GenerationStats;

/**
 * What a generation produced.
 *
 * @param text new text, without the end-of-sequence token; empty when the model has no tokenizer
 * @param ids new tokens, the end-of-sequence token included where it ended the generation
 * @param reason why it ended
 * @param stats figures
 */
public record Generation(String text, int[] ids, FinishReason reason, GenerationStats stats) {}
