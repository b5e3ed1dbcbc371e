package dev.torchane.llm;

import dev.torchane.TorchAneException;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.IntConsumer;

/**
 * The loop of many streams, of which up to {@link LanguageModel#batchSize()} take a token in each call of the program. Any number may wait:
 * a stream that ends leaves its row and its columns to the next. A stream gives what it gives alone, in the same bits on an
 * engine whose rows do not depend on each other.
 *
 * <p>Prompts are computed one after another in a state of their own, which keeps what the next prompt has in common with the last.
 * When the columns run out, the stream that came last is set aside and goes on later from what it had.
 */
public final class BatchLoop implements AutoCloseable {

    /**
     * One stream.
     *
     * @param prompt its ids, at least one
     * @param stream chooses its tokens
     * @param prefillProgress hears how many prompt tokens are done
     */
    public record Request(int[] prompt, TokenStream stream, IntConsumer prefillProgress) {}

    private final LanguageModel model;
    private final Deque<BatchMember> waiting = new ArrayDeque<>();
    private final BatchColumns columns;
    private final KvState prompts;
    private final BiConsumer<Request, Optional<RuntimeException>> onEnd;
    private final Map<Integer, WindowInputs> inputs = new HashMap<>();

    /**
     * Checks every prompt; computes nothing yet.
     *
     * @param onEnd hears of each stream that ended, with what went wrong where it failed: its logits, its sampler, a listener. The
     *     others go on
     * @throws TorchAneException when the program has no batch functions
     * @throws IllegalArgumentException when a prompt is empty, or has an id outside the vocabulary
     * @throws ContextOverflowException when a prompt does not fit the context
     */
    public BatchLoop(
            LanguageModel model, List<Request> requests, BiConsumer<Request, Optional<RuntimeException>> onEnd) {
        if (!model.hasBatch()) {
            throw new TorchAneException("the bundle's program has no batch functions: build it with batch(true)");
        }
        model.requireFeedable(requests);
        this.model = model;
        this.onEnd = onEnd;
        for (Request request : requests) {
            waiting.add(new BatchMember(request));
            beginStream(request, 0);
        }
        this.columns = new BatchColumns(model);
        this.prompts = model.newState();
    }

    private void beginStream(Request request, int cached) {
        int prompt = request.prompt().length;
        request.stream().begin(prompt, cached, model.shape().maxLen() - prompt);
    }

    /**
     * Takes one token of every stream that has a row, after giving free rows to streams that wait.
     *
     * @return whether there is more to come
     */
    public boolean step() {
        removeFinished();
        admit();
        if (!columns.members().isEmpty()) {
            while (!columns.makeRoom(columns.members().size())) {
                setLastAside();
            }
            compute(List.copyOf(columns.members()));
        }
        return !columns.members().isEmpty() || !waiting.isEmpty();
    }

    /** Steps until every stream has ended. */
    public void run() {
        while (step()) {
            // each step is one token of every stream that has a row
        }
    }

    private void removeFinished() {
        for (BatchMember member : List.copyOf(columns.members())) {
            if (member.stream().isFinished()) {
                end(member, Optional.empty());
            }
        }
        for (BatchMember member : List.copyOf(waiting)) {
            if (member.stream().isFinished()) {
                waiting.remove(member);
                onEnd.accept(member.request(), Optional.empty());
            }
        }
    }

    private void end(BatchMember member, Optional<RuntimeException> failure) {
        columns.release(member);
        onEnd.accept(member.request(), failure);
    }

    private void admit() {
        while (!waiting.isEmpty() && columns.members().size() < model.batchSize()) {
            BatchMember next = waiting.peek();
            int known = Math.max(next.size(), next.promptSize());
            boolean alone = columns.members().isEmpty();
            if (!columns.canMakeRoom(known + columns.members().size() + (alone ? 0 : 1), alone)) {
                return;
            }
            waiting.remove();
            if (next.setAside().isPresent()) {
                Map<String, Tensor> kept = next.setAside().get();
                int size = next.size();
                next.returned();
                columns.makeRoom(size);
                columns.admit(next, kept, size);
            } else {
                begin(next);
            }
        }
    }

    /** Computes a prompt and takes the first token behind it. */
    private void begin(BatchMember member) {
        int[] prompt = member.request().prompt();
        TokenStream stream = member.stream();
        int cached = prompts.keepCommonPrefix(prompt);
        beginStream(member.request(), cached);
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        Optional<float[]> logits = Optional.empty();
        if (!stream.isFinished()) {
            try {
                logits = model.feedWhile(prompts, Arrays.copyOfRange(prompt, cached, prompt.length), done -> {
                    try {
                        member.request().prefillProgress().accept(cached + done);
                    } catch (RuntimeException listener) {
                        failure.set(listener);
                    }
                    return failure.get() == null && !stream.isFinished();
                });
            } catch (TorchAneException notFinite) {
                failure.set(notFinite);
            }
        }
        if (logits.isEmpty() || failure.get() != null) {
            end(member, Optional.ofNullable(failure.get()));
            return;
        }
        columns.makeRoom(prompt.length);
        Map<String, Tensor> computed = new HashMap<>();
        for (String name : prompts.state().names()) {
            computed.put(name, prompts.state().tensor(name));
        }
        columns.admit(member, computed, prompt.length);
        take(member, logits.get());
    }

    private void setLastAside() {
        BatchMember last = columns.members().getLast();
        last.setAside(columns.state());
        columns.release(last);
        waiting.addFirst(last);
    }

    /**
     * One call of the program: a row for every stream, behind rows that repeat what is there where the state ends. Where rows that
     * are closed to each other are multiplied by zero, what is no number in one reaches all of them: then each is computed alone.
     */
    private void compute(List<BatchMember> members) {
        int rung = columns.rung();
        int size = model.batchSize();
        int frontier = columns.frontier();
        int first = Math.min(frontier, rung - size);
        members.forEach(columns::place);
        BatchMember[] owners = new BatchMember[size];
        int[] positions = new int[size];
        for (int row = 0; row < size; row++) {
            owners[row] = columns.owner(first + row);
            positions[row] = columns.position(first + row);
        }
        LoadedFunction function = model.batch(rung);
        WindowInputs filled = inputs.computeIfAbsent(rung, _ -> model.newInputs(function, size, rung));
        filled.fill(first, owners, positions);
        int vocab = model.shape().vocab();
        RowRange rows = new RowRange(frontier - first, members.size());
        StepEvent event = new StepEvent();
        event.begin();
        event.position = frontier;
        event.rung = rung;
        event.streams = members.size();
        Tensor logits = function.run(filled.tensors(), columns.state(), rows).get("logits");
        event.commit();
        List<float[]> each = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            each.add(logits.toFloats((long) (frontier - first + i) * vocab, vocab));
        }
        boolean finite = each.stream().allMatch(LanguageModel::isFinite);
        if (finite || members.size() == 1) {
            for (int i = 0; i < members.size(); i++) {
                take(members.get(i), each.get(i));
            }
        }
        if (!finite) {
            columns.takeBack(frontier);
            if (members.size() > 1) {
                members.forEach(member -> compute(List.of(member)));
            }
        }
    }

    private void take(BatchMember member, float[] logits) {
        try {
            LanguageModel.requireFinite(logits, member.size());
            OptionalInt id = member.stream().next(logits, member);
            if (member.stream().isFinished()) {
                end(member, Optional.empty());
            } else {
                member.pending(id.orElseThrow());
            }
        } catch (RuntimeException failure) {
            end(member, Optional.of(failure));
        }
    }

    @Override
    public void close() {
        columns.close();
        prompts.close();
    }
}
