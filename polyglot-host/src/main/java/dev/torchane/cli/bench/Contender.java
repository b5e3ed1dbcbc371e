package dev.torchane.cli.bench;

import java.util.List;
import java.util.Set;

/**
 * Something that is measured.
 *
 * @param name {@code llama.cpp Q4_1}
 * @param ours whether it is this library
 * @param works what it takes part in: peers with weights of the same width, and for prefill the fastest of any width
 * @param command starts its worker
 */
record Contender(String name, boolean ours, Set<Work> works, List<String> command) {

    Contender {
        works = Set.copyOf(works);
        command = List.copyOf(command);
    }
}
