package dev.torchane.diffusion;

import java.util.function.Function;

/** What a listener sees after a step. */
public final class DiffusionStep {

    private final int number;
    private final int count;
    private final float timestep;
    private final float[] latents;
    private final Function<float[], float[]> decoder;

    DiffusionStep(int number, int count, float timestep, float[] latents, Function<float[], float[]> decoder) {
        this.number = number;
        this.count = count;
        this.timestep = timestep;
        this.latents = latents;
        this.decoder = decoder;
    }

    /** From 1 on. */
    public int number() {
        return number;
    }

    /** How many steps there will be. */
    public int count() {
        return count;
    }

    /** Where on the way of the training this step began. */
    public float timestep() {
        return timestep;
    }

    /** A copy of the latents, {@code [channels, h, w]}. */
    public float[] latents() {
        return latents.clone();
    }

    /** The picture as it is now, {@code [3, height, width]} in −1 to 1. Runs the VAE's decoder, which takes as long as at the end. */
    public float[] decode() {
        return decoder.apply(latents.clone());
    }
}
