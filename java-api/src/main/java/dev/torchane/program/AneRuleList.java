package dev.torchane.program;

import dev.torchane.program.AneRules.Profile;
import dev.torchane.program.AneRules.Rule;
import dev.torchane.program.AneRules.Severity;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/** The rules, and how each is looked for. */
final class AneRuleList {

    private static final String APPLE = "apple/coreai-models, neural_engine_rules.md";
    private static final String ZOO = "john-rocky/coreai-model-zoo, knowledge/ and DOCTOR_RULES.md";
    private static final String FORGE = "sbryngelson/ANEForge, docs";
    private static final String ARTICLE = "the ane-rs article, habr.com/ru/articles/1078762";

    private static final Set<Profile> BOTH = Set.of(Profile.COREAI_ANE, Profile.DIRECT_ANE);
    private static final Set<Profile> COREAI = Set.of(Profile.COREAI_ANE);
    private static final Set<Profile> DIRECT = Set.of(Profile.DIRECT_ANE);

    private static final int MOST_AXES = 5;
    private static final int LONGEST_AXIS = 16_384;
    private static final int WIDEST_PRODUCT = 32_752;
    private static final int FURTHEST_SLICE = 4_094;
    private static final int ALIGNED = 32;
    private static final long MOST_WEIGHTS = 2L << 30;
    private static final double LARGEST_HALF = 65_504;

    /** Elements that data may have; the compressed ones stand only in constants. */
    private static final Set<DType> DATA = Set.of(
            DType.FP16,
            DType.INT8,
            DType.UINT8,
            DType.INT16,
            DType.UINT16,
            DType.BOOL,
            DType.STRING,
            DType.INT4,
            DType.UINT1,
            DType.UINT2,
            DType.UINT3,
            DType.UINT4,
            DType.UINT6);

    private AneRuleList() {}

    /** Looks for one rule. */
    @FunctionalInterface
    interface Check {
        /** Reports place and what was found there. */
        void look(AneSubject subject, BiConsumer<String, String> report);
    }

    record Entry(Rule rule, Check check) {}

    static final Rule STATIC_SHAPES = new Rule(
            "static-shapes",
            Severity.ERROR,
            "shapes are static: no `RangeDims`, no open sizes",
            "one function for each shape, as the ladder has them",
            APPLE + "; " + ARTICLE,
            BOTH);

    static final Rule ENUMERATED_SHAPES = new Rule(
            "enumerated-shapes",
            Severity.WARNING,
            "one shape: enumerated shapes become as many programs, which slow one another",
            "separate programs, loaded as they are needed",
            ARTICLE,
            DIRECT);

    static final Rule SEVERAL_FUNCTIONS = new Rule(
            "several-functions",
            Severity.WARNING,
            "one function in a program: several slow one another",
            "a program for each function; small calls chained by completion handlers beat one large one",
            ARTICLE,
            DIRECT);

    static final List<Entry> RULES = List.of(
            new Entry(
                    new Rule("rank", Severity.ERROR, "tensors have at most 5 axes", "reshape first", APPLE, BOTH),
                    (f, report) -> f.data((value, place) -> {
                        if (value.type().rank() > MOST_AXES) {
                            report.accept(place, value.type().toString());
                        }
                    })),
            new Entry(
                    new Rule(
                            "element-type",
                            Severity.ERROR,
                            "data is fp16, int8, int16 or their unsigned kin, truth values in conditions; int32 for indices and shapes alone",
                            "convert before the call; the `rms_norm` groups of Core AI keep their own precision, elsewhere scale first",
                            APPLE + "; " + ARTICLE,
                            BOTH),
                    (f, report) -> f.data((value, place) -> {
                        if (!DATA.contains(value.type().dtype())) {
                            report.accept(place, value.type().toString());
                        }
                    })),
            new Entry(
                    new Rule(
                            "fp32-literal",
                            Severity.ERROR,
                            "no fp32 constants among data",
                            "constants of fp16",
                            APPLE,
                            BOTH),
                    (f, report) -> f.each("const", operation -> {
                        if (operation.output().type().dtype() == DType.FP32 && !f.exempt(operation.output())) {
                            report.accept(
                                    f.place(operation),
                                    operation.output().type().toString());
                        }
                    })),
            new Entry(
                    new Rule(
                            "finite-literal",
                            Severity.ERROR,
                            "constants are finite in fp16: masks have −40000, not −inf",
                            "−40000 where a row may not look",
                            APPLE,
                            BOTH),
                    (f, report) -> f.each("const", operation -> {
                        if (operation.constant().orElse(null) instanceof Literal.Numbers numbers
                                && numbers.type().dtype().isFloat()) {
                            numbers.values().stream()
                                    .filter(number -> !(Math.abs(number) <= LARGEST_HALF))
                                    .findFirst()
                                    .ifPresent(number -> report.accept(f.place(operation), Double.toString(number)));
                        }
                    })),
            new Entry(
                    new Rule(
                            "last-axis",
                            Severity.WARNING,
                            "the last axis of inputs and outputs is a multiple of 32 values: its stride is one anyway, and memory must follow it",
                            "another axis last; `[1, 256]` instead of `[256, 1]`",
                            APPLE + "; " + ARTICLE,
                            BOTH),
                    (f, report) -> f.boundary((value, place) -> {
                        if (value.type().rank() > 0
                                && value.type().dtype() != DType.INT32
                                && value.type().axis(-1) % ALIGNED != 0) {
                            report.accept(
                                    place,
                                    value.type() + " lies in memory as rows of "
                                            + Math.ceilDiv(value.type().axis(-1), ALIGNED) * ALIGNED);
                        }
                    })),
            new Entry(
                    new Rule(
                            "axis-length",
                            Severity.WARNING,
                            "no axis is longer than 16,384 (M1 to M4)",
                            "cut a head over the vocabulary into parts, or leave it to the CPU",
                            FORGE,
                            BOTH),
                    (f, report) -> f.data((value, place) -> {
                        if (value.type().shape().stream().anyMatch(size -> size > LONGEST_AXIS)) {
                            report.accept(place, value.type().toString());
                        }
                    })),
            new Entry(
                    new Rule(
                            "product-width",
                            Severity.WARNING,
                            "a product of matrices gives at most 32,752 columns",
                            "several products",
                            FORGE,
                            BOTH),
                    (f, report) -> f.each(Set.of("matmul", "linear"), operation -> {
                        if (operation.output().type().rank() > 0
                                && operation.output().type().axis(-1) > WIDEST_PRODUCT) {
                            report.accept(
                                    f.place(operation),
                                    operation.output().type().toString());
                        }
                    })),
            new Entry(
                    new Rule(
                            "slice-offset",
                            Severity.WARNING,
                            "slices begin at 4,094 or before (M1 and M2 give infinities beyond)",
                            "split the tensor first",
                            FORGE,
                            BOTH),
                    (f, report) -> f.each(Set.of("slice_by_index", "slice_by_size"), operation -> {
                        if (f.literal(operation, "begin") instanceof Literal.Numbers begin
                                && begin.values().stream().anyMatch(from -> from > FURTHEST_SLICE)) {
                            report.accept(f.place(operation), "begins at " + begin.values());
                        }
                    })),
            new Entry(
                    new Rule(
                            "states",
                            Severity.ERROR,
                            "no states: neither `read_state` nor `write_state`",
                            "the cache as an input and an output, written by `select` (samples: `KvUpdate`)",
                            ARTICLE,
                            DIRECT),
                    (f, report) -> f.each(
                            Set.of("read_state", "write_state"),
                            operation -> report.accept(f.place(operation), operation.kind()))),
            new Entry(
                    new Rule(
                            "updates",
                            Severity.ERROR,
                            "no `slice_update`, no `scatter*`",
                            "`gather` under a mask and `select`, or a one-hot blend (samples: `KvUpdate`)",
                            ARTICLE,
                            DIRECT),
                    (f, report) -> f.all(operation -> {
                        if (operation.kind().equals("slice_update")
                                || operation.kind().startsWith("scatter")) {
                            report.accept(f.place(operation), operation.kind());
                        }
                    })),
            new Entry(
                    new Rule(
                            "computed-update",
                            Severity.WARNING,
                            "`slice_update` at a computed place crashes some releases",
                            "the one-hot blend of the cache",
                            ZOO,
                            COREAI),
                    (f, report) -> f.each("slice_update", operation -> {
                        if (f.literal(operation, "begin") == null) {
                            report.accept(f.place(operation), "its begin is computed");
                        }
                    })),
            new Entry(
                    new Rule(
                            "embedding",
                            Severity.ERROR,
                            "embeddings are looked up outside: no `gather` at int32 indices that are data",
                            "the rows as an input; indices of 16 bits for small tables",
                            APPLE + "; " + ARTICLE,
                            BOTH),
                    (f, report) -> f.all(operation -> {
                        if (operation.kind().startsWith("gather")
                                && operation.input("indices").isPresent()
                                && operation.input("indices").get().type().dtype() == DType.INT32
                                && f.literal(operation, "indices") == null) {
                            report.accept(
                                    f.place(operation),
                                    "indices " + operation.input("indices").get());
                        }
                    })),
            new Entry(
                    new Rule(
                            "attention-mask",
                            Severity.ERROR,
                            "`attn_mask` of `scaled_dot_product_attention` is ignored",
                            "attention as products (samples: `MatmulAttention`)",
                            ARTICLE,
                            DIRECT),
                    (f, report) -> f.each("scaled_dot_product_attention", operation -> {
                        if (operation.input("attn_mask").isPresent()) {
                            report.accept(f.place(operation), "has an attn_mask");
                        }
                    })),
            new Entry(
                    new Rule(
                            "blockwise-weights",
                            Severity.ERROR,
                            "scales and palettes are shared by whole output channels, not by blocks of inputs",
                            "int8 by channel, or palettes by groups of output channels",
                            "apple/coreai-models#279; apple/coreai-torch#93",
                            BOTH),
                    (f, report) ->
                            f.each(Set.of("constexpr_blockwise_shift_scale", "constexpr_lut_to_dense"), operation -> {
                                String table = operation.kind().endsWith("dense") ? "lut" : "scale";
                                Optional<Value> shared = operation.input(table);
                                if (shared.isPresent()
                                        && shared.get().type().rank() > 1
                                        && shared.get().type().axis(1) != 1) {
                                    report.accept(
                                            f.place(operation),
                                            table + " " + shared.get().type());
                                }
                            })),
            new Entry(
                    new Rule(
                            "stored-blocks",
                            Severity.ERROR,
                            "no blocks of a GGUF: only the `jvm` engine has them",
                            "build with another weight encoding",
                            "docs/architecture.md",
                            BOTH),
                    (f, report) -> f.each(
                            "ane.constexpr_ggml", operation -> report.accept(f.place(operation), "a GGUF's blocks"))),
            new Entry(
                    new Rule(
                            "linear",
                            Severity.WARNING,
                            "linear layers are 1×1 convolutions",
                            "build for the target `ane`",
                            APPLE,
                            COREAI),
                    (f, report) -> f.each(
                            "linear",
                            operation -> report.accept(
                                    f.place(operation),
                                    operation.output().type().toString()))),
            new Entry(
                    new Rule(
                            "activation",
                            Severity.WARNING,
                            "SiLU as x·sigmoid(x), tanh as 2·sigmoid(2x) − 1",
                            "write them so; the group `swiglu` is taken apart by the emitter",
                            APPLE,
                            COREAI),
                    (f, report) -> f.each(Set.of("silu", "tanh"), operation -> {
                        if (operation.composite().isEmpty()) {
                            report.accept(f.place(operation), operation.kind());
                        }
                    })),
            new Entry(
                    new Rule(
                            "depthwise",
                            Severity.WARNING,
                            "depthwise convolutions did not work as they are",
                            "products and sums of shifted rows",
                            ARTICLE,
                            DIRECT),
                    (f, report) -> f.each("conv", operation -> {
                        if (f.literal(operation, "groups") instanceof Literal.Numbers groups
                                && groups.values().getFirst() > 1
                                && groups.values().getFirst()
                                        == operation.input("x").get().type().axis(1)) {
                            report.accept(
                                    f.place(operation),
                                    groups.values().getFirst().longValue() + " groups");
                        }
                    })),
            new Entry(
                    new Rule(
                            "selection",
                            Severity.WARNING,
                            "no `topk`, `argsort`, `reduce_argmax` or `non_zero`: they were not tried, or run elsewhere",
                            "sample on the CPU",
                            ARTICLE,
                            BOTH),
                    (f, report) -> f.each(
                            Set.of("topk", "argsort", "reduce_argmax", "reduce_argmin", "non_zero"),
                            operation -> report.accept(f.place(operation), operation.kind()))),
            new Entry(
                    new Rule(
                            "weights-size",
                            Severity.WARNING,
                            "a program has at most some 2 GB of weights",
                            "several programs, each with some layers",
                            FORGE,
                            BOTH),
                    (f, report) -> {
                        long bytes = f.weightBytes();
                        if (bytes > MOST_WEIGHTS) {
                            report.accept("weights", bytes + " bytes");
                        }
                    }),
            new Entry(STATIC_SHAPES, (f, report) -> {}),
            new Entry(ENUMERATED_SHAPES, (f, report) -> {}),
            new Entry(SEVERAL_FUNCTIONS, (f, report) -> {}));
}
