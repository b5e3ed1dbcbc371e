package dev.torchane.cli;

import dev.torchane.program.Manifest;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What became of a checkpoint's tensors: totals by encoding, then each tensor that is not stored as it was. */
final class WeightTable {

    private WeightTable() {}

    static void print(List<Manifest.Weight> weights, PrintStream out) {
        out.println("\nweights");
        Map<String, long[]> byEncoding = new TreeMap<>();
        for (Manifest.Weight weight : weights) {
            long[] sums = byEncoding.computeIfAbsent(weight.encoding(), encoding -> new long[3]);
            sums[0]++;
            sums[1] += weight.bytes();
            sums[2] += elements(weight);
        }
        byEncoding.forEach((encoding, sums) -> out.printf(
                Locale.ROOT,
                "  %-8s %5d tensors %10.1f MB %7.2f bits a weight%n",
                encoding,
                sums[0],
                sums[1] / 1e6,
                8.0 * sums[1] / Math.max(1, sums[2])));

        out.printf(Locale.ROOT, "%n  %-48s %-14s %-8s %5s %10s %10s%n", "tensor", "shape", "as", "group", "max", "rms");
        for (Manifest.Weight weight : weights) {
            if (weight.maxError() > 0 || !weight.note().isEmpty()) {
                out.printf(
                        Locale.ROOT,
                        "  %-48s %-14s %-8s %5s %10.2e %10.2e%s%n",
                        weight.name(),
                        weight.shape(),
                        weight.encoding(),
                        weight.group() == 0 ? "" : weight.group(),
                        weight.maxError(),
                        weight.rmsError(),
                        weight.note().isEmpty() ? "" : "  " + weight.note());
            }
        }
    }

    static long elements(Manifest.Weight weight) {
        return weight.shape().stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
    }
}
