package dev.torchane.llm;

import dev.torchane.TorchAneException;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * A loaded language model: token ids in, logits out. Safe to share; what changes lives in {@link KvState}. One feed at a time
 * per state.
 */
public final class LanguageModel {

    private final LoadedProgram program;
    private final ModelShape shape;
    private final Embedding embedding;
    private final Set<String> verified = ConcurrentHashMap.newKeySet();

    /**
     * @throws TorchAneException when the program lacks a function that the shape's ladder asks for
     */
    public LanguageModel(LoadedProgram program, ModelShape shape, Embedding embedding) {
        this.program = program;
        this.shape = shape;
        this.embedding = embedding;
        for (int rung : shape.ladder()) {
            for (String name : new String[] {"prefill_" + rung, "decode_" + rung}) {
                if (!program.functions().contains(name)) {
                    throw new TorchAneException("the bundle's program has no function " + name + ", which the ladder "
                            + shape.ladder() + " of its manifest asks for; it has " + program.functions()
                            + ": build the bundle again");
                }
            }
        }
    }

    /** What the loop knows of the model. */
    public ModelShape shape() {
        return shape;
    }

    /** An empty state on the lowest rung. */
    public KvState newState() {
        return new KvState(this);
    }

    /** A state from a file, and the bytes that were attached to it. */
    public record Restored(KvState state, byte[] attachment) {}

    /**
     * A state that {@link KvState#save} wrote, in this process or another.
     *
     * @param fingerprint as it was given when saving
     * @throws SavedStateException when there is none, it is damaged, has too many tokens, or belongs to another model or build
     */
    public Restored restore(Path file, SortedMap<String, String> fingerprint) {
        return SavedState.read(file, this, fingerprint);
    }

    /**
     * States of a rung. A function has to be read for them: on the lowest rung the one that a prompt begins with, on others the
     * one that goes on.
     */
    State newState(int rung) {
        boolean lowest = rung == shape.ladder().getFirst();
        return (lowest
                        ? function(first(), shape.prefillWindow(), rung)
                        : function("decode_" + rung, shape.decodeWindow(), rung))
                .newState();
    }

    /** The function with which the states of all others are compared. */
    private String first() {
        return "prefill_" + shape.ladder().getFirst();
    }

    LoadedFunction batch(int rung) {
        return function("batch_" + rung, shape.decodeWindow(), rung);
    }

    /** Streams that one call of a batch function takes a token of. */
    public int batchSize() {
        return shape.decodeWindow();
    }

    /** Whether the program has the functions that a {@link BatchLoop} calls. */
    public boolean hasBatch() {
        return shape.ladder().stream().allMatch(rung -> program.functions().contains("batch_" + rung));
    }

    WindowInputs newInputs(LoadedFunction function, int rows, int columns) {
        return new WindowInputs(function.signature(), shape, embedding, rows, columns);
    }

    /** A function, checked against the shape when it is first asked for. */
    private LoadedFunction function(String name, int rows, int columns) {
        LoadedFunction function = program.function(name);
        if (!verified.contains(name)) {
            FunctionContract.verify(function.signature(), shape, rows, columns, !name.startsWith("batch_"));
            if (!name.equals(first())) {
                FunctionContract.verifySameStates(
                        function.signature(), program.function(first()).signature());
            }
            verified.add(name);
        }
        return function;
    }

    /**
     * Appends tokens to a state.
     *
     * @param ids at least one, each within the vocabulary
     * @param progress hears the number of tokens done after each window
     * @return logits of the last token, {@code [vocab]}, fp32
     * @throws IllegalArgumentException when {@code ids} is empty or an id is not in the vocabulary
     * @throws ContextOverflowException when the state would have more than maxLen tokens
     * @throws TorchAneException when the logits are not finite
     */
    public float[] feed(KvState state, int[] ids, IntConsumer progress) {
        return feedWhile(state, ids, done -> {
                    progress.accept(done);
                    return true;
                })
                .orElseThrow();
    }

    /**
     * As {@link #feed}, between whose windows it can be left; the state then holds the tokens of the windows that were done.
     *
     * @param goOn hears the number of tokens done after each window; false computes no further window
     * @return empty when it was left before the last window
     */
    public Optional<float[]> feedWhile(KvState state, int[] ids, IntPredicate goOn) {
        requireFeedable(state, ids);
        return ids.length == 1 ? recordedStep(state, ids, goOn) : recordedPrefill(state, ids, goOn);
    }

    /** Columns of a state's rung behind what it holds, once there is one; 0 when the context is full. */
    int room(KvState state) {
        int end = state.position() + 1;
        if (end > shape.maxLen()) {
            return 0;
        }
        return Math.min(shape.maxLen(), Math.max(state.capacity(), shape.rungFor(end))) - state.position();
    }

    /**
     * Computes tokens in one window of a batch function. The state moves behind the first of them only: the columns of the others are
     * there, and may be taken by moving on ({@link KvState#advance}) or written again.
     *
     * @param ids as many as a window has rows at most, all within {@link #room}
     * @return logits behind each of them, {@code [ids][vocab]}; empty when some are no numbers: what was written is in doubt then
     */
    Optional<float[][]> feedEach(KvState state, int[] ids) {
        StepEvent event = new StepEvent();
        event.begin();
        int from = state.position();
        event.position = from;
        state.ensureCapacity(from + ids.length);
        int[] tokens = state.append(ids);
        int rung = state.capacity();
        int rows = batchSize();
        LoadedFunction function = batch(rung);
        Window window = new Window(false, Math.min(from, rung - rows), rows, from, from + ids.length);
        WindowInputs filled = state.inputs("batch_" + rung, () -> newInputs(function, rows, rung));
        filled.fill(window, tokens);
        state.doubt(window.start());
        RowRange range = new RowRange(from - window.start(), ids.length);
        Tensor logits = function.run(filled.tensors(), state.state(), range).get("logits");
        float[][] each = new float[ids.length][];
        boolean finite = true;
        for (int i = 0; i < ids.length; i++) {
            each[i] = logits.toFloats((long) (from - window.start() + i) * shape.vocab(), shape.vocab());
            finite &= isFinite(each[i]);
        }
        event.rung = rung;
        event.commit();
        if (!finite) {
            return Optional.empty();
        }
        state.trust();
        state.advance(from + 1);
        return Optional.of(each);
    }

    private Optional<float[]> recordedStep(KvState state, int[] ids, IntPredicate goOn) {
        StepEvent event = new StepEvent();
        event.begin();
        event.position = state.position();
        Optional<float[]> logits = feedWindows(state, ids, goOn);
        event.rung = state.capacity();
        event.commit();
        return logits;
    }

    private Optional<float[]> recordedPrefill(KvState state, int[] ids, IntPredicate goOn) {
        PrefillEvent event = new PrefillEvent();
        event.begin();
        event.position = state.position();
        Optional<float[]> logits = feedWindows(state, ids, goOn);
        event.tokens = state.position() - event.position;
        event.rung = state.capacity();
        event.commit();
        return logits;
    }

    private Optional<float[]> feedWindows(KvState state, int[] ids, IntPredicate goOn) {
        int from = state.position();
        int end = from + ids.length;
        state.ensureCapacity(end);
        int[] tokens = state.append(ids);
        Tensor logits = null;
        for (Window window : Window.plan(from, end, state.capacity(), shape.prefillWindow(), shape.decodeWindow())) {
            state.doubt(window.start());
            logits = run(state, window, tokens);
            state.advance(window.to());
            if (!goOn.test(window.to() - from) && window.to() < end) {
                if (isFinite(logits.toFloats())) {
                    state.trust();
                }
                return Optional.empty();
            }
        }
        float[] result = logits.toFloats();
        requireFinite(result, end);
        state.trust();
        return Optional.of(result);
    }

    /**
     * Checks tokens before anything is computed.
     *
     * @throws IllegalArgumentException when {@code ids} is empty or an id is not in the vocabulary
     * @throws ContextOverflowException when the state would have more than maxLen tokens
     */
    void requireFeedable(KvState state, int[] ids) {
        requireFeedable(state.position(), ids);
    }

    /**
     * Checks every prompt of a batch before anything is computed.
     *
     * @throws IllegalArgumentException when one is empty or has an id that is not in the vocabulary
     * @throws ContextOverflowException when one would have more than maxLen tokens
     */
    public void requireFeedable(List<BatchLoop.Request> requests) {
        requests.forEach(request -> requireFeedable(0, request.prompt()));
    }

    /** The same behind {@code position} tokens. */
    void requireFeedable(int position, int[] ids) {
        if (ids.length == 0) {
            throw new IllegalArgumentException("there are no tokens to feed: the prompt is empty");
        }
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] < 0 || ids[i] >= shape.vocab()) {
                throw new IllegalArgumentException("token " + i + " of the prompt has the id " + ids[i]
                        + "; this model's vocabulary has " + shape.vocab() + " entries");
            }
        }
        if (position + ids.length > shape.maxLen()) {
            throw new ContextOverflowException(position + ids.length, shape.maxLen());
        }
    }

    private Tensor run(KvState state, Window window, int[] tokens) {
        String name = (window.prefill() ? "prefill_" : "decode_") + state.capacity();
        LoadedFunction function = function(name, window.rows(), state.capacity());
        WindowInputs filled = state.inputs(name, () -> newInputs(function, window.rows(), state.capacity()));
        filled.fill(window, tokens);
        RowRange rows = new RowRange(window.from() - window.start(), window.to() - window.from());
        return function.run(filled.tensors(), state.state(), rows).get("logits");
    }

    static boolean isFinite(float[] logits) {
        for (float logit : logits) {
            if (!Float.isFinite(logit)) {
                return false;
            }
        }
        return true;
    }

    static void requireFinite(float[] logits, int position) {
        for (int i = 0; i < logits.length; i++) {
            if (!Float.isFinite(logits[i])) {
                throw new TorchAneException(
                        "the logits after token " + position + " are not finite (entry " + i + " is "
                                + logits[i] + "): the weights are damaged, or an fp16 program overflowed; validate the "
                                + "checkpoint, or build with fp32 precision");
            }
        }
    }
}
