package dev.torchane;

import dev.torchane.program.Manifest;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** What two loaded models must have in common for one to go on from a state of the other: everything that its numbers come from. */
final class Fingerprint {

    /** Options of a build that decide how much fits, and change no number. */
    private static final Set<String> SIZES = Set.of("maxLen", "prefillWindow", "ladder", "batch");

    private Fingerprint() {}

    static SortedMap<String, String> of(Manifest manifest, CausalLMOptions options) {
        SortedMap<String, String> all = new TreeMap<>();
        all.put("model", manifest.source().digest());
        all.put("target", manifest.target());
        all.put("engine", options.engine());
        all.put("numerics", options.engineOptions().numerics().toString());
        manifest.options().forEach((name, value) -> {
            if (!SIZES.contains(name)) {
                all.put("option " + name, value);
            }
        });
        manifest.versions().forEach((name, value) -> all.put("version of " + name, value));
        return all;
    }
}
