package dev.torchane.program;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Every operation a program may contain: parameters with their defaults, and inference. Names, defaults and meaning are
 * those of Apple's MIL (coremltools, {@code mil/ops/defs}, opsets iOS 15 to iOS 18); {@code ane.constexpr_ggml} is ours.
 * {@code const} is not listed: its type is its literal's.
 */
public final class OperationTable {

    private static final Map<String, Signature> SIGNATURES = collect();

    private OperationTable() {}

    private static Map<String, Signature> collect() {
        Map<String, Signature> signatures = new TreeMap<>();
        Stream.of(
                        ElementwiseRules.signatures(),
                        ReductionRules.signatures(),
                        LinearRules.signatures(),
                        ShapeRules.signatures(),
                        IndexRules.signatures(),
                        ImageRules.signatures(),
                        ConstantRules.signatures())
                .flatMap(List::stream)
                .forEach(signature -> signatures.put(signature.kind(), signature));
        return Collections.unmodifiableMap(signatures);
    }

    /** All signatures by kind. */
    public static Map<String, Signature> all() {
        return SIGNATURES;
    }

    /** The signature of a kind, if it is known. */
    public static Optional<Signature> find(String kind) {
        return Optional.ofNullable(SIGNATURES.get(kind));
    }

    /**
     * The signature of a kind.
     *
     * @throws IllegalArgumentException when the table has no such operation
     */
    public static Signature signature(String kind) {
        return find(kind)
                .orElseThrow(() -> new IllegalArgumentException("no MIL operation is called '" + kind
                        + "' here; if it is one of MIL's, it has to be added to the table of operations"));
    }
}
