package dev.torchane.diffusion;

import dev.torchane.engine.Tensor;
import java.util.Map;

/** One model of a pipeline: named tensors in, named tensors out. Any number of threads may run it at once. */
public interface TensorModel {

    /**
     * Computes the outputs.
     *
     * @param inputs by name; they belong to the caller
     * @return the outputs by name; they belong to the caller
     */
    Map<String, Tensor> run(Map<String, Tensor> inputs);
}
