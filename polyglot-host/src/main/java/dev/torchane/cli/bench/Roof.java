package dev.torchane.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * One figure beside the machine's limit.
 *
 * @param found in {@code unit}
 * @param limit in {@code unit}; 0 for a limit itself
 */
record Roof(String name, double found, double limit, String unit) {

    /** The limits, and how far decoding and prefill are from them. */
    static List<Roof> of(Roofline machine, long weightBytes, long parameters, Results results) {
        double bandwidth = machine.bytesPerSecond() / 1e9;
        double peak = machine.flopsPerSecond() / 1e9;
        List<Roof> roofs = new ArrayList<>();
        roofs.add(new Roof("memory, read in order", bandwidth, 0, "GB/s"));
        roofs.add(new Roof("fp32 multiply-adds in registers", peak, 0, "GFLOP/s"));
        OptionalDouble decode = results.ours(Work.DECODE_1_Q4);
        decode.ifPresent(rate ->
                roofs.add(new Roof("weights read by decode-1-q4", rate * weightBytes / 1e9, bandwidth, "GB/s")));
        decode.ifPresent(
                rate -> roofs.add(new Roof("arithmetic of decode-1-q4", rate * 2 * parameters / 1e9, peak, "GFLOP/s")));
        results.ours(Work.PREFILL_512_Q4)
                .ifPresent(rate -> roofs.add(
                        new Roof("arithmetic of prefill-512-q4", rate * 2 * parameters / 1e9, peak, "GFLOP/s")));
        return roofs;
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%-34s %8.1f %s", name, found, unit)
                + (limit == 0 ? "" : String.format(Locale.ROOT, ", %.0f %% of the roof", 100 * found / limit));
    }
}
