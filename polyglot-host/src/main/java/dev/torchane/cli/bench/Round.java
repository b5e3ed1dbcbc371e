package dev.torchane.cli.bench;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** The rounds of each work: in each, every contender does it once, and who goes first changes from round to round. */
final class Round {

    private final Set<Work> works;
    private final Prompts prompts;
    private final Map<String, String> skipped;
    private final Map<String, String> versions = new LinkedHashMap<>();
    private final Map<Contender, Worker> workers = new LinkedHashMap<>();
    private Optional<StartProbe> start = Optional.empty();

    /**
     * @param skipped receives a reason for each contender that fails
     */
    Round(Set<Work> works, Prompts prompts, Map<String, String> skipped) {
        this.works = works;
        this.prompts = prompts;
        this.skipped = skipped;
    }

    /** How our own start is measured; without it, it is not. */
    void measureStart(StartProbe probe) {
        start = Optional.of(probe);
    }

    /** Versions of the contenders that were measured. */
    Map<String, String> versions() {
        return versions;
    }

    /**
     * For each work one round to warm up, then the measured ones. Only those who take part are loaded meanwhile.
     *
     * @param logs where what the workers print goes
     * @param behindEach receives what is known so far behind each work
     */
    Results run(List<Contender> contenders, int rounds, Path logs, Consumer<Results> behindEach) {
        Results results = new Results();
        for (Work work : works) {
            try {
                open(work, contenders, Files.createDirectories(logs));
                for (int round = 0; round <= rounds; round++) {
                    for (Contender contender : turns(work, round)) {
                        double figure = measure(work, contender);
                        if (round > 0 && !Double.isNaN(figure)) {
                            results.add(work, contender, figure);
                        }
                    }
                }
                System.err.println(work.id() + ": " + rounds + " rounds");
                behindEach.accept(results);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            } finally {
                workers.values().forEach(Worker::close);
                workers.clear();
            }
        }
        return results;
    }

    private void open(Work work, List<Contender> contenders, Path logs) {
        for (Contender contender : contenders) {
            if (contender.works().contains(work) && !skipped.containsKey(contender.name())) {
                try {
                    Worker worker =
                            new Worker(contender, logs.resolve(contender.name().replace(' ', '-') + ".log"));
                    workers.put(contender, worker);
                    versions.put(contender.name(), worker.version());
                } catch (TorchAneException failure) {
                    skipped.put(contender.name(), failure.getMessage());
                }
            }
        }
    }

    private List<Contender> turns(Work work, int round) {
        List<Contender> turns = new ArrayList<>(workers.keySet().stream()
                .filter(contender -> !skipped.containsKey(failure(work, contender)))
                .toList());
        Collections.rotate(turns, round);
        return turns;
    }

    private static String failure(Work work, Contender contender) {
        return contender.name() + " at " + work.id();
    }

    private double measure(Work work, Contender contender) {
        try {
            if (contender.ours() && work == Work.START_Q4) {
                return start.orElseThrow(() -> new TorchAneException("./torch-ane is not there"))
                        .measure();
            }
            return workers.get(contender).measure(work, work.request(prompts.text(), prompts.question()));
        } catch (TorchAneException failure) {
            skipped.put(failure(work, contender), failure.getMessage());
            return Double.NaN;
        }
    }
}
