package dev.torchane.cli.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The peers that {@code tools/peers.sh} has prepared, and why others are missing.
 *
 * @param found those that can be measured
 * @param skipped a reason for each that cannot
 */
record Peers(List<Contender> found, Map<String, String> skipped) {

    private static final Set<Work> FOUR_BITS =
            Set.of(Work.DECODE_1_Q4, Work.DECODE_8_Q4, Work.PREFILL_512_Q4, Work.START_Q4, Work.DECODE_CTX4000_Q4);

    /**
     * Looks for peers.
     *
     * @param folder where the script prepared them
     * @param script {@code tools/peers/peer.py}
     * @param q4 the model as it is published, Q4_1
     */
    static Peers in(Path folder, Path script, Path q4, int threads) {
        Peers peers = new Peers(new ArrayList<>(), new LinkedHashMap<>());
        Path python = folder.resolve("venv/bin/python");
        Path models = folder.resolve("models");
        peers.add("llama.cpp Q4_1", "llama", "llama_cpp", FOUR_BITS, q4, python, script, threads);
        peers.add(
                "llama.cpp Q4_0",
                "llama",
                "llama_cpp",
                FOUR_BITS,
                models.resolve("Q4_0.gguf"),
                python,
                script,
                threads);
        peers.add(
                "llama.cpp Q8_0",
                "llama",
                "llama_cpp",
                Set.of(Work.DECODE_1_Q8),
                models.resolve("Q8_0.gguf"),
                python,
                script,
                threads);
        for (String type : List.of("fp32", "bf16")) {
            peers.add(
                    "transformers " + type,
                    "torch-" + type,
                    "transformers",
                    Set.of(Work.PREFILL_512_Q4),
                    models.resolve("hf"),
                    python,
                    script,
                    threads);
        }
        peers.add(
                "onnxruntime-genai int4",
                "ort",
                "onnxruntime_genai",
                FOUR_BITS,
                models.resolve("ort"),
                python,
                script,
                threads);
        peers.addJlama(folder.resolve("jlama"), models.resolve("hf"), threads);
        peers.skipped.put("llama3.java", "it is in no package registry");
        return peers;
    }

    private void add(
            String name,
            String kind,
            String module,
            Set<Work> works,
            Path model,
            Path python,
            Path script,
            int threads) {
        if (!Files.isExecutable(python)) {
            skipped.put(name, "no environment at " + python + ": run tools/peers.sh");
        } else if (!installed(python, module)) {
            skipped.put(name, "the environment of tools/peers.sh has no " + module);
        } else if (!Files.exists(model)) {
            skipped.put(name, "no model at " + model + ": tools/peers.sh says why");
        } else {
            List<String> command = List.of(
                    python.toString(), script.toString(), kind, model.toString(), "--threads", String.valueOf(threads));
            found.add(new Contender(name, false, works, command));
        }
    }

    /** One stream at a time, so not in the work of eight. */
    private void addJlama(Path folder, Path model, int threads) {
        String name = "Jlama Q4";
        if (!Files.isRegularFile(folder.resolve("classes/JlamaPeer.class")) || !Files.exists(model)) {
            skipped.put(name, "no " + folder.resolve("classes") + " or no " + model + ": run tools/peers.sh");
            return;
        }
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                folder.resolve("classes") + java.io.File.pathSeparator + folder.resolve("lib/*"),
                "JlamaPeer",
                model.toString(),
                String.valueOf(threads));
        Set<Work> works = Set.of(Work.DECODE_1_Q4, Work.PREFILL_512_Q4, Work.START_Q4, Work.DECODE_CTX4000_Q4);
        found.add(new Contender(name, false, works, command));
    }

    private static boolean installed(Path python, String module) {
        Path lib = python.getParent().resolveSibling("lib");
        try (Stream<Path> versions = Files.list(lib)) {
            return versions.anyMatch(version ->
                    Files.isDirectory(version.resolve("site-packages").resolve(module)));
        } catch (java.io.IOException unreadable) {
            return false;
        }
    }
}
