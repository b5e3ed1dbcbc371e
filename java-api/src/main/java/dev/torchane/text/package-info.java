/** Text to token ids and back: tokenizer, chat template, decoding of a stream of ids. */
package dev.torchane.text;
