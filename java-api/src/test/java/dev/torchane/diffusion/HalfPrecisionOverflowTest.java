package dev.torchane.diffusion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Numerics;
import dev.torchane.program.Bundle;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A UNet whose activations are beyond fp16, run as hardware runs it: an error with the step's number instead of a picture. */
class HalfPrecisionOverflowTest {

    private static final String MANIFEST = """
            {"format": 1, "kind": "module", "target": "ane", "options": {}, "source": {"name": "unet", "digest": "sha256:0"},
             "versions": {}, "rowAxes": {}}""";

    private final FakePipeline pipeline = new FakePipeline();

    @TempDir
    Path directory;

    @BeforeEach
    void writeTheUnet() {
        try (BundleWriter bundle = BundleWriter.create(directory.resolve("unet"))) {
            ProgramBuilder program = ProgramBuilder.create();
            FunctionBuilder f = program.function("main");
            Value sample = f.input("sample", TensorType.of(DType.FP32, 1, 4, 2, 2));
            f.input("timestep", TensorType.of(DType.FP32, 1));
            f.input("encoder_hidden_states", TensorType.of(DType.FP32, 1, 77, 2));
            Literal scale = Literal.scalar(DType.FP16, 60000);
            Value large = f.mul("large", f.cast("half", sample, DType.FP16), scale);
            Value small = f.realDiv("small", large, scale);
            f.done(Map.of("sample_out", f.cast("single", small, DType.FP32)));
            bundle.program(program.build());
            bundle.manifest(MANIFEST);
            bundle.finish();
        }
    }

    @Test
    void fp16ArithmeticOverflowsAndTheStepIsNamed() {
        NonFiniteException failure = assertThrows(NonFiniteException.class, () -> run(Numerics.DECLARED));
        assertEquals(1, failure.step());
        assertTrue(failure.getMessage().contains("non-finite latents at step 1 of 3"), failure.getMessage());
        assertTrue(failure.getMessage().contains("precision fp32"), failure.getMessage());
    }

    @Test
    void theSameProgramInFp32ArithmeticGivesAPicture() {
        assertEquals(3 * 16 * 16, run(Numerics.FP32).pixels().length);
    }

    private DiffusionLoop.Picture run(Numerics numerics) {
        EngineOptions options = EngineOptions.defaults().withThreads(1).withNumerics(numerics);
        try (Bundle bundle = Bundle.open(directory.resolve("unet"));
                LoadedProgram program = Engine.named("jvm").load(bundle, options)) {
            LoadedFunction unet = program.function("main");
            PipelineModels fake = pipeline.models();
            PipelineModels models = new PipelineModels(
                    fake.textEncoder(),
                    inputs -> unet.run(inputs, unet.newState()),
                    fake.vaeDecoder(),
                    Optional.empty());
            Scheduler scheduler =
                    Scheduler.of("test", JsonNodeFactory.instance.objectNode(), SchedulerKind.DPM_SOLVER_MULTISTEP);
            int[] ids = new int[FakePipeline.TOKENS];
            return new DiffusionLoop(models, pipeline.shape())
                    .run(
                            new DiffusionLoop.Request(ids, ids, 1, scheduler, 3, 0, 16, 16, Optional.empty()),
                            () -> false,
                            step -> {});
        }
    }
}
