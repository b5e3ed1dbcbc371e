package dev.torchane.diffusion;

import dev.torchane.TorchAneException;

/** A model computed numbers that are infinite or none: there is no picture. Half precision overflows so. */
public final class NonFiniteException extends TorchAneException {

    private static final long serialVersionUID = 1L;

    private final int step;

    NonFiniteException(String what, int step) {
        super("non-finite " + what + ": the model overflowed; build it with precision fp32");
        this.step = step;
    }

    /** The step whose latents were not finite, from 1 on; 0 when the text encoder or the VAE was to blame. */
    public int step() {
        return step;
    }
}
