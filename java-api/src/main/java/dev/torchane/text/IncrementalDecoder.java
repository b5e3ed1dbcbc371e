package dev.torchane.text;

/**
 * Turns a stream of ids into a stream of text. The pieces, joined, are what {@link Tokenizer#decode} makes of all ids at
 * once; no piece ends in half a character. Belongs to one stream and one thread.
 */
public sealed interface IncrementalDecoder permits ByteLevelDecoder, SentencePieceDecoder, WindowDecoder {

    /** Takes the next id; returns the text that has become certain, often that of the token, sometimes none. */
    String append(int id);

    /** Ends the stream; returns what was held back. */
    String finish();
}
