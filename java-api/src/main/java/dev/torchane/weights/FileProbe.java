package dev.torchane.weights;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;

/** Recognises, by their first bytes, files that often lie where a checkpoint should. */
final class FileProbe {

    private FileProbe() {}

    /** What the file looks like, with what to do; empty when nothing is recognised. */
    static Optional<String> recognise(MemorySegment bytes) {
        int length = (int) Math.min(bytes.byteSize(), 256);
        byte[] head = bytes.asSlice(0, length).toArray(JAVA_BYTE);
        String text = new String(head, StandardCharsets.ISO_8859_1);
        if (text.startsWith("PK\u0003\u0004")) {
            return Optional.of("it looks like a PyTorch zip (.bin, .pt); convert it to safetensors first");
        }
        if (head.length > 2 && (head[0] & 0xFF) == 0x80 && head[1] >= 2 && head[1] <= 5) {
            return Optional.of("it looks like a PyTorch pickle (.bin, .pt), which can run code and is never loaded;"
                    + " convert it to safetensors first");
        }
        if (text.startsWith("version https://git-lfs")) {
            return Optional.of("it is a Git LFS pointer, not the file itself; run 'git lfs pull'");
        }
        String start = text.stripLeading().toLowerCase(Locale.ROOT);
        if (start.startsWith("<!doctype html") || start.startsWith("<html")) {
            return Optional.of("it is an HTML page; the download went to a web page, not to the file");
        }
        if (text.startsWith("GGUF")) {
            return Optional.of("it is a GGUF file; name it .gguf");
        }
        if (text.startsWith("tjgg") || text.startsWith("fmgg") || text.startsWith("lmgg") || text.startsWith("algg")) {
            return Optional.of("it is a GGML file older than GGUF; convert the model again with llama.cpp");
        }
        if (head.length == 0) {
            return Optional.of("it is empty; incomplete download?");
        }
        if (length >= 9 && head[8] == '{') {
            return Optional.of("it looks like safetensors; name it .safetensors");
        }
        if (text.startsWith("{") || text.startsWith("[")) {
            return Optional.of("it is JSON text");
        }
        return Optional.empty();
    }
}
