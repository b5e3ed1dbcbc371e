package dev.torchane;

import dev.torchane.llm.BatchLoop;
import dev.torchane.llm.GenerationLoop;
import dev.torchane.llm.KvState;
import dev.torchane.llm.LanguageModel;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Many generations at once. */
final class BatchRun {

    private static final System.Logger LOG = System.getLogger(BatchRun.class.getName());

    private final LanguageModel model;
    private final List<BatchLoop.Request> requests = new ArrayList<>();
    private final Map<BatchLoop.Request, TextGeneration> running = new IdentityHashMap<>();
    private final Map<BatchLoop.Request, Generation> results = new IdentityHashMap<>();
    private final List<GenerationException> failures = new ArrayList<>();

    BatchRun(LanguageModel model, ModelText text, List<BatchRequest> given) {
        this.model = model;
        for (BatchRequest request : given) {
            GenerateOptions options = request.options();
            int[] ids = ids(request.prompt(), options, text);
            TextGeneration generation = text.newGeneration(ids, options);
            requests.add(new BatchLoop.Request(ids, generation.tokens(), options.onPrefill()));
            running.put(requests.getLast(), generation);
        }
    }

    private static int[] ids(BatchRequest.Prompt prompt, GenerateOptions options, ModelText text) {
        return switch (prompt) {
            case BatchRequest.Prompt.Text(String words) -> text.encode(words, options);
            case BatchRequest.Prompt.Chat(var messages) -> text.encode(messages, options);
            case BatchRequest.Prompt.Ids(var ids) ->
                ids.stream().mapToInt(Integer::intValue).toArray();
        };
    }

    List<Generation> run() {
        model.requireFeedable(requests);
        try {
            if (model.hasBatch()) {
                try (BatchLoop loop = new BatchLoop(model, requests, this::end)) {
                    loop.run();
                }
            } else {
                oneByOne();
            }
        } catch (RuntimeException failure) {
            failRest(failure);
            throw failure;
        }
        List<Generation> ordered = requests.stream().map(results::get).toList();
        if (!failures.isEmpty()) {
            throw new BatchException(ordered, failures);
        }
        return ordered;
    }

    private void oneByOne() {
        LOG.log(
                System.Logger.Level.INFO,
                "the bundle has no batch functions, so {0} generations run one after another; build it with batch(true) for"
                        + " up to {1} at once",
                requests.size(),
                model.batchSize());
        try (KvState state = model.newState()) {
            for (BatchLoop.Request request : requests) {
                Optional<RuntimeException> failure = Optional.empty();
                try {
                    GenerationLoop.reusing(model, state, request.prompt(), request.stream(), request.prefillProgress())
                            .run();
                } catch (RuntimeException e) {
                    failure = Optional.of(e);
                }
                end(request, failure);
            }
        }
    }

    private void end(BatchLoop.Request request, Optional<RuntimeException> failure) {
        TextGeneration generation = running.remove(request);
        if (failure.isEmpty()) {
            try {
                results.put(request, generation.end());
            } catch (RuntimeException listener) {
                failed(request, generation.failed(listener));
            }
        } else {
            failed(request, generation.failed(failure.get()));
        }
    }

    private void failed(BatchLoop.Request request, GenerationException failure) {
        results.put(request, failure.partial());
        failures.add(failure);
    }

    /** Ends what did not end because the model was closed, or the engine failed. */
    private void failRest(RuntimeException failure) {
        running.values().forEach(generation -> generation.failed(failure));
        running.clear();
    }
}
