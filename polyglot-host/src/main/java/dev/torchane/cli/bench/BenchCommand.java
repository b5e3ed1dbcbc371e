package dev.torchane.cli.bench;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.build.WeightEncoding;
import dev.torchane.cache.CacheRoot;
import dev.torchane.cli.DemoModel;
import dev.torchane.program.Bundle;
import dev.torchane.program.Manifest;
import dev.torchane.venv.InstallProgress;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bench}. */
@Command(
        name = "bench",
        description = {
            "Measures SmolLM2-135M on this library and on the peers that tools/peers.sh has prepared.",
            "Rounds are interleaved and figures are medians, on an otherwise idle machine."
        },
        mixinStandardHelpOptions = true)
public final class BenchCommand implements Runnable {

    private static final int MAX_LEN = 8192;

    @Option(names = "--rounds", description = "Measured rounds, behind one that is not; default ${DEFAULT-VALUE}.")
    private int rounds = 5;

    @Option(names = "--threads", description = "Threads of everybody; default ${DEFAULT-VALUE}.")
    private int threads = 2;

    @Option(
            names = "--works",
            split = ",",
            paramLabel = "WORK",
            description = "Some of decode-1-q4, decode-1-q8, decode-8-q4, prefill-512-q4, start-q4, decode-ctx4000-q4.")
    private List<String> works = List.of();

    @Option(
            names = "--peers",
            split = ",",
            paramLabel = "WORDS",
            description = "Only peers with one of these words in their name: llama, transformers, ...")
    private List<String> peers = List.of();

    @Option(
            names = "--weights",
            description = "Our weights for the works of four bits: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private WeightEncoding weights = WeightEncoding.STORED;

    @Option(names = "--output", description = "Folder of latest.json, latest.csv and latest.html; default docs/bench.")
    private Path output = home().resolve("docs/bench");

    /** Made by the command line. */
    public BenchCommand() {}

    @Override
    public void run() {
        Set<Work> chosen = EnumSet.allOf(Work.class);
        if (!works.isEmpty()) {
            chosen.retainAll(works.stream().map(Work::of).toList());
        }
        Path gguf = DemoModel.fetch(InstallProgress.none());
        Path fourBits = bundle(gguf, weights);
        List<Contender> contenders = new ArrayList<>();
        contenders.add(own(fourBits, "torch-ane " + weights.id(), EnumSet.complementOf(EnumSet.of(Work.DECODE_1_Q8))));
        if (chosen.contains(Work.DECODE_1_Q8)) {
            contenders.add(own(bundle(gguf, WeightEncoding.INT8), "torch-ane int8", EnumSet.of(Work.DECODE_1_Q8)));
        }
        Peers prepared =
                Peers.in(CacheRoot.locate().resolve("peers"), home().resolve("tools/peers/peer.py"), gguf, threads);
        Map<String, String> skipped = new LinkedHashMap<>(prepared.skipped());
        prepared.found().stream()
                .filter(peer -> peers.isEmpty() || peers.stream().anyMatch(peer.name()::contains))
                .forEach(contenders::add);

        Round round = new Round(chosen, Prompts.of(fourBits), skipped);
        Path script = home().resolve("torch-ane");
        if (Files.isExecutable(script)) {
            round.measureStart(new StartProbe(script, fourBits, Prompts.QUESTION, threads));
        }
        String machine = Machine.describe(threads);
        System.err.println(machine);
        Function<Results, List<Roof>> roofs = roofs(fourBits);
        Function<Results, Report> reporting =
                results -> new Report(results, machine, round.versions(), skipped, roofs.apply(results));
        Results results = round.run(
                contenders,
                rounds,
                CacheRoot.locate().resolve("bench-logs"),
                known -> reporting.apply(known).write(output));
        reporting.apply(results).print(System.out);
        System.out.println("written: latest.json, latest.csv and latest.html in " + output);
    }

    private Function<Results, List<Roof>> roofs(Path bundle) {
        if (!Roofline.available()) {
            return results -> List.of();
        }
        Roofline machine = Roofline.measure(threads);
        try (Bundle opened = Bundle.open(bundle)) {
            long bytes = opened.manifest().weights().stream()
                    .mapToLong(Manifest.Weight::bytes)
                    .sum();
            long parameters = opened.manifest().weights().stream()
                    .mapToLong(weight -> weight.shape().stream()
                            .mapToLong(Integer::longValue)
                            .reduce(1, Math::multiplyExact))
                    .sum();
            return results -> Roof.of(machine, bytes, parameters, results);
        }
    }

    private Contender own(Path bundle, String name, Set<Work> takesPart) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> !flag.startsWith("-Dtorchane.aot="))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "dev.torchane.cli.Main"));
        command.addAll(List.of("bench-worker", bundle.toString(), "--threads", String.valueOf(threads)));
        return new Contender(name, true, takesPart, command);
    }

    private static Path bundle(Path gguf, WeightEncoding weights) {
        return CausalLM.build(
                gguf, CausalLMOptions.builder().weights(weights).maxLen(MAX_LEN).build());
    }

    /** The repository, as the script names it; else the working directory. */
    private static Path home() {
        return Path.of(System.getProperty("torchane.home", "")).toAbsolutePath();
    }
}
