package dev.torchane.llm;

import dev.torchane.program.Manifest;

/**
 * Rotary position embedding as the model defines it.
 *
 * @param inverseFrequencies fp32, one for each pair of a head's rotary channels, as transformers computes them
 * @param attentionScaling factor on cos and sin (1 except for yarn and its kin)
 */
public record Rope(float[] inverseFrequencies, float attentionScaling) {

    static Rope of(Manifest.Rope rope) {
        float[] frequencies = new float[rope.inverseFrequencies().size()];
        for (int i = 0; i < frequencies.length; i++) {
            frequencies[i] = rope.inverseFrequencies().get(i);
        }
        return new Rope(frequencies, rope.attentionScaling());
    }

    /** Channels of a head that are rotated. */
    public int dim() {
        return 2 * inverseFrequencies.length;
    }

    /**
     * The cos and sin rows of a position, in fp32 as transformers: the angle is {@code position * inverseFrequency} rounded to fp32,
     * and the row is the frequencies twice, one after the other.
     *
     * @param cos receives {@link #dim()} numbers
     * @param sin receives {@link #dim()} numbers
     */
    void row(int position, float[] cos, float[] sin) {
        int half = inverseFrequencies.length;
        for (int i = 0; i < half; i++) {
            float angle = position * inverseFrequencies[i];
            float c = (float) Math.cos(angle) * attentionScaling;
            float s = (float) Math.sin(angle) * attentionScaling;
            cos[i] = c;
            cos[i + half] = c;
            sin[i] = s;
            sin[i + half] = s;
        }
    }
}
