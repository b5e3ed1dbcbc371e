package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.program.AneRules.Profile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Every rule finds a program that breaks it. */
class AneRulesTest {

    private static final Path PAGE = Path.of("../docs/ane-rules.md");

    private static TensorType half(int... shape) {
        return TensorType.of(DType.FP16, shape);
    }

    /** A program for each rule, of which it is broken; the name says the rule. */
    private static final Map<String, Consumer<FunctionBuilder>> BREAKING = Map.ofEntries(
            Map.entry("rank", f -> f.done(f.silu("y", f.input("x", half(1, 1, 1, 1, 1, 32))))),
            Map.entry("element-type", f -> f.done(f.silu("y", f.input("x", TensorType.of(DType.FP32, 1, 32))))),
            Map.entry(
                    "fp32-literal",
                    f -> f.done(f.mul(
                            "y",
                            f.cast("wide", f.input("x", half(1, 32)), DType.FP32),
                            Literal.scalar(DType.FP32, 2)))),
            Map.entry(
                    "finite-literal",
                    f -> f.done(f.add(
                            "y", f.input("x", half(1, 32)), Literal.scalar(DType.FP16, Double.NEGATIVE_INFINITY)))),
            Map.entry("last-axis", f -> f.done(f.silu("y", f.input("x", half(256, 1))))),
            Map.entry("axis-length", f -> f.done(f.silu("y", f.input("x", half(1, 20_000))))),
            Map.entry(
                    "product-width",
                    f -> f.done(f.matmul("y", f.input("x", half(1, 32)), f.input("w", half(49_152, 32)), false, true))),
            Map.entry(
                    "slice-offset",
                    f -> f.done(f.sliceByIndex("y", f.input("x", half(1, 8192)), List.of(0, 4096), List.of(1, 4128)))),
            Map.entry("states", f -> f.done(f.readState("y", f.state("cache", half(1, 32))))),
            Map.entry(
                    "updates",
                    f -> f.done(f.sliceUpdate(
                            "y",
                            f.input("x", half(4, 32)),
                            f.input("u", half(1, 32)),
                            Literal.int32s(1, 0),
                            Literal.int32s(2, 32)))),
            Map.entry("computed-update", f -> {
                Value step = f.input("step", TensorType.of(DType.INT32, 1));
                Value begin = f.concat("begin", List.of(step, Literal.int32s(0)), 0);
                Value end = f.concat("end", List.of(f.add("after", step, Literal.int32s(1)), Literal.int32s(32)), 0);
                f.done(f.sliceUpdate("y", f.input("x", half(4, 32)), f.input("u", half(1, 32)), begin, end));
            }),
            Map.entry(
                    "embedding",
                    f -> f.done(f.gather(
                            "y", f.input("table", half(100, 32)), f.input("ids", TensorType.of(DType.INT32, 4)), 0))),
            Map.entry(
                    "attention-mask",
                    f -> f.done(f.apply(
                            "scaled_dot_product_attention",
                            "y",
                            Map.of(
                                    "query", f.input("q", half(1, 2, 4, 32)),
                                    "key", f.input("k", half(1, 2, 8, 32)),
                                    "value", f.input("v", half(1, 2, 8, 32)),
                                    "attn_mask", f.input("m", half(1, 1, 4, 8)))))),
            Map.entry(
                    "blockwise-weights",
                    f -> f.done(f.linear(
                            "y",
                            f.input("x", half(1, 64)),
                            f.blockwiseShiftScale(
                                    "w", blob(f, "d", DType.INT8, 32, 64), blob(f, "s", DType.FP16, 32, 2))))),
            Map.entry(
                    "stored-blocks",
                    f -> f.done(f.linear(
                            "y",
                            f.input("x", half(1, 32)),
                            f.ggml(
                                    "w",
                                    blob(f, "d", DType.UINT8, 34 * 32),
                                    dev.torchane.weights.WeightType.Q8_0,
                                    half(32, 32))))),
            Map.entry(
                    "linear", f -> f.done(f.linear("y", f.input("x", half(1, 32)), blob(f, "w", DType.FP16, 32, 32)))),
            Map.entry("activation", f -> f.done(f.silu("y", f.input("x", half(1, 32))))),
            Map.entry(
                    "depthwise",
                    f -> f.done(f.apply(
                            "conv",
                            "y",
                            Map.of(
                                    "x", f.input("x", half(1, 4, 32, 32)),
                                    "weight", blob(f, "w", DType.FP16, 4, 1, 1, 1),
                                    "groups", Literal.int32(4))))),
            Map.entry(
                    "selection",
                    f -> f.done(f.apply(
                            "reduce_argmax", "y", Map.of("x", f.input("x", half(1, 32)), "axis", Literal.int32(-1))))),
            Map.entry(
                    "weights-size",
                    f -> f.done(f.matmul(
                            "y",
                            f.input("x", half(1, 16_384)),
                            blob(f, "w", DType.FP16, 16_384, 16_384 * 5),
                            false,
                            false))));

    /** Rules over a whole program or its text, tested apart. */
    private static final Set<String> APART = Set.of("static-shapes", "enumerated-shapes", "several-functions");

    private static Value blob(FunctionBuilder f, String name, DType dtype, int... shape) {
        return f.constant(name, new Literal.Blob(TensorType.of(dtype, shape), "@model_path/weights/weight.bin", 64));
    }

    private static Program program(Consumer<FunctionBuilder> body) {
        ProgramBuilder program = ProgramBuilder.create();
        body.accept(program.function("main"));
        return program.build();
    }

    @Test
    void everyRuleFindsAProgramThatBreaksIt() {
        Set<String> tested = new TreeSet<>(APART);
        BREAKING.forEach((rule, body) -> {
            Program program = program(body);
            Set<String> found = new HashSet<>();
            for (Profile profile : Profile.values()) {
                AneRules.check(program, profile).forEach(finding -> {
                    assertTrue(finding.rule().profiles().contains(profile), finding.toString());
                    assertTrue(finding.place().startsWith("main: "), finding.toString());
                    found.add(finding.rule().id());
                });
            }
            assertTrue(found.contains(rule), rule + " was not found, but " + found);
            tested.add(rule);
        });
        assertEquals(
                new TreeSet<>(AneRules.all().stream().map(AneRules.Rule::id).toList()), tested, "rules without a test");
    }

    @Test
    void aProgramAsTheArticleBuildsItBreaksNoRule() {
        Program program = program(f -> {
            Value cache = f.input("cache", half(1, 2, 64, 64));
            Value fresh = f.input("fresh", half(1, 2, 64, 64));
            Value mask = f.apply(
                    "greater",
                    "mask",
                    Map.of("x", f.input("open", half(1, 1, 64, 64)), "y", Literal.scalar(DType.FP16, 0.5)));
            Value updated = f.select("updated", mask, fresh, cache);
            f.done(f.matmul("y", f.input("q", half(1, 2, 4, 64)), updated, false, true));
        });
        assertEquals(List.of(), AneRules.check(program, Profile.DIRECT_ANE));
        assertEquals(List.of(), AneRules.check(program, Profile.COREAI_ANE));
    }

    @Test
    void indicesAndShapesAreNoData() {
        Program program = program(f -> {
            Value step = f.input("step", TensorType.of(DType.INT32, 1));
            Value begin = f.concat("begin", List.of(step, Literal.int32s(0)), 0);
            f.done(f.sliceBySize("y", f.input("x", half(64, 32)), begin, List.of(4, 32)));
        });
        assertEquals(List.of(), AneRules.check(program, Profile.DIRECT_ANE));
    }

    @Test
    void theInsideOfANormIsCoreAisOwnAffair() {
        Program program = program(f -> f.done(f.rmsNorm("y", f.input("x", half(1, 64)), f.input("w", half(64)), 1e-6)));
        assertEquals(List.of(), AneRules.check(program, Profile.COREAI_ANE));
        assertFalse(AneRules.check(program, Profile.DIRECT_ANE).isEmpty());
    }

    @Test
    void severalFunctionsAndEnumeratedShapesAreSlowWhenCompiledDirectly() {
        ProgramBuilder two = ProgramBuilder.create();
        for (String name : List.of("a", "b")) {
            FunctionBuilder f = two.function(name);
            f.done(f.add("y", f.input("x", half(1, 32)), f.input("z", half(1, 32))));
        }
        Program program = two.build();
        assertEquals(
                List.of("several-functions"),
                AneRules.check(program, Profile.DIRECT_ANE).stream()
                        .map(finding -> finding.rule().id())
                        .toList());
        assertEquals(List.of(), AneRules.check(program, Profile.COREAI_ANE));
    }

    @Test
    void thePageListsTheRules() throws IOException {
        if (Boolean.getBoolean("torchane.docs")) {
            Files.writeString(PAGE, AneRules.page());
        }
        assertEquals(
                AneRules.page(),
                Files.readString(PAGE),
                "docs/ane-rules.md is stale: run this test with -Dtorchane.docs=true");
    }
}
