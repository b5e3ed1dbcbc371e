package dev.torchane.engine.jvm;

/**
 * Leaves out the steps behind it while every share is zero: their result is zero then.
 *
 * @param shares one number for each row
 * @param result of the last step that is left out
 * @param count steps that are left out
 */
record SkipStep(Operand shares, Operand result, int count) implements Step {

    boolean skips(Call call) {
        float[] array = shares.array(call);
        int from = shares.offset();
        for (int i = from; i < from + shares.size(); i++) {
            if (array[i] != 0) {
                return false;
            }
        }
        return true;
    }

    /** Writes the result of the steps that are left out. */
    @Override
    public void run(Call call) {
        int from = result.offset();
        java.util.Arrays.fill(result.array(call), from, from + result.size(), 0f);
    }
}
