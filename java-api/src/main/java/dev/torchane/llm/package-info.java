/**
 * The language-model loop on token ids: windows, masks, RoPE rows, the context ladder, the KV state, sampling and the
 * generation loop. Knows nothing of text and nothing of which engine runs.
 */
package dev.torchane.llm;
