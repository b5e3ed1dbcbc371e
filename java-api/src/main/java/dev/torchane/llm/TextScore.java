package dev.torchane.llm;

import dev.torchane.TorchAneException;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;

/** How well a model predicts a text: the log-probability it gives each token after those before it. */
public final class TextScore {

    private final LoadedFunction function;
    private final ModelShape shape;
    private final Embedding embedding;

    /**
     * @param function a prefill function of the last rung, as {@link EveryRow} makes it
     */
    public TextScore(LoadedFunction function, ModelShape shape, Embedding embedding) {
        this.function = function;
        this.shape = shape;
        this.embedding = embedding;
    }

    /**
     * Log-probabilities (natural) of every token but the first.
     *
     * @param ids at most as many as the last rung has columns
     * @return one number less than there are ids
     * @throws TorchAneException when a logit is not finite
     */
    public double[] logprobs(int[] ids) {
        int rows = shape.prefillWindow();
        int columns = shape.ladder().getLast();
        if (ids.length > columns) {
            throw new IllegalArgumentException(ids.length + " tokens do not fit a state of " + columns + " columns");
        }
        double[] found = new double[Math.max(0, ids.length - 1)];
        WindowInputs inputs = new WindowInputs(function.signature(), shape, embedding, rows, columns);
        try (State state = function.newState()) {
            for (int from = 0; from < found.length; from += rows) {
                Window window =
                        new Window(true, Math.min(from, columns - rows), rows, from, Math.min(from + rows, ids.length));
                inputs.fill(window, ids);
                Tensor logits = function.run(inputs.tensors(), state).get("logits");
                float[] all = logits.toFloats();
                for (int at = from; at < Math.min(window.to(), found.length); at++) {
                    found[at] = logprob(all, (at - window.start()) * shape.vocab(), ids[at + 1], at);
                }
            }
        }
        return found;
    }

    private double logprob(float[] logits, int row, int id, int position) {
        double largest = Double.NEGATIVE_INFINITY;
        for (int i = row; i < row + shape.vocab(); i++) {
            largest = Math.max(largest, logits[i]);
        }
        double sum = 0;
        for (int i = row; i < row + shape.vocab(); i++) {
            sum += Math.exp(logits[i] - largest);
        }
        double logprob = logits[row + id] - largest - Math.log(sum);
        if (!Double.isFinite(logprob)) {
            throw new TorchAneException(
                    "the logits after token " + position + " are not finite: the text cannot be scored");
        }
        return logprob;
    }
}
