package dev.torchane.engine.coreai;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What each operation of MIL is in Core AI, and why some are nothing. States and constants are {@link FunctionText}'s. */
final class Emitters {

    /** Operations that are refused, with the reason. */
    static final Map<String, String> REFUSED = Map.of(
            "non_zero", "its result has no static shape; use a mask and select",
            "constexpr_sparse_to_dense", "sparse weights are not written yet; build the model with another encoding",
            "resize", "use upsample_bilinear or upsample_nearest_neighbor",
            "resize_bilinear", "use upsample_bilinear",
            "resize_nearest_neighbor", "use upsample_nearest_neighbor");

    private static final Map<String, Emitter> TABLE = collect();

    private Emitters() {}

    private static Map<String, Emitter> collect() {
        Map<String, Emitter> table = new TreeMap<>();
        ElementwiseEmitters.register(table);
        ReductionEmitters.register(table);
        LinearEmitters.register(table);
        ShapeEmitters.register(table);
        IndexEmitters.register(table);
        ImageEmitters.register(table);
        return Collections.unmodifiableMap(table);
    }

    static Map<String, Emitter> all() {
        return TABLE;
    }

    static Optional<Emitter> find(String kind) {
        return Optional.ofNullable(TABLE.get(kind));
    }
}
