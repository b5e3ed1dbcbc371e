/** What turns the hidden states of an encoder into the embedding of a text: limits, pooling, normalisation, as the model's files say. */
package dev.torchane.embedding;
