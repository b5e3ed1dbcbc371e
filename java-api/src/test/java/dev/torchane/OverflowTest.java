package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.torchane.engine.Numerics;
import dev.torchane.llm.ContextOverflowException;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import dev.torchane.testing.TinyTransformer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One token whose activations are no numbers ends the generations that hold it, and no other. With declared numerics the engine
 * computes closed columns too, as hardware does: there a NaN that is left in the state would reach everything behind it.
 */
class OverflowTest {

    private static final int NOT_A_NUMBER = 200;
    private static final GenerateOptions OPTIONS = GenerateOptions.defaults().withMaxNewTokens(12);

    @TempDir
    Path folder;

    private CausalLM lm;
    private int[] expected;

    private void open(Numerics numerics, DType states) throws IOException {
        Path bundle = TinyTransformer.standard().withStates(states).write(folder.resolve("bundle"));
        spoil(bundle);
        lm = CausalLM.open(
                bundle, CausalLMOptions.builder().threads(1).numerics(numerics).build());
        expected = lm.generate(ids(9), OPTIONS).ids();
    }

    @AfterEach
    void close() {
        lm.close();
    }

    /** Makes the embedding of one token NaN. */
    private static void spoil(Path bundle) throws IOException {
        long record;
        int columns;
        try (Bundle opened = Bundle.open(bundle)) {
            record = opened.manifest().embedding().data();
            columns = opened.manifest().embedding().columns();
        }
        try (RandomAccessFile file =
                new RandomAccessFile(bundle.resolve(Bundle.WEIGHTS).toFile(), "rw")) {
            file.seek(record + 16);
            long data = Long.reverseBytes(file.readLong());
            file.seek(data + 4L * columns * NOT_A_NUMBER);
            for (int i = 0; i < columns; i++) {
                file.writeInt(Integer.reverseBytes(Float.floatToRawIntBits(Float.NaN)));
            }
        }
    }

    private static int[] ids(int count) {
        return IntStream.range(0, count).map(i -> 3 + i * 31 % 190).toArray();
    }

    /** A prompt with the token at one place. */
    private static int[] bad(int count, int place) {
        int[] ids = ids(count);
        ids[place] = NOT_A_NUMBER;
        return ids;
    }

    private static GenerateOptions sayingIt() {
        return OPTIONS.withSampling(Sampling.greedy().withBias(Map.of(NOT_A_NUMBER, 1e9f)));
    }

    @ParameterizedTest
    @EnumSource(Numerics.class)
    void the_generations_behind_it_are_as_if_it_had_not_been(Numerics numerics) throws IOException {
        for (DType states : List.of(DType.FP32, DType.FP16)) {
            open(numerics, states);
            for (int place : new int[] {0, 3, 20, 29}) {
                assertThrows(GenerationException.class, () -> lm.generate(bad(30, place), OPTIONS));
                assertArrayEquals(expected, lm.generate(ids(9), OPTIONS).ids());
            }
            GenerationException said = assertThrows(GenerationException.class, () -> lm.generate(ids(5), sayingIt()));
            assertEquals(1, said.partial().ids().length);
            assertArrayEquals(expected, lm.generate(ids(9), OPTIONS).ids());
            assertThrows(TorchAneException.class, () -> lm.feed(bad(70, 40)));
            lm.reset();
            lm.feed(ids(9));
            assertEquals(9, lm.position());
            assertArrayEquals(expected, lm.generate(ids(9), OPTIONS).ids());
            lm.close();
        }
        open(numerics, DType.FP32);
    }

    @ParameterizedTest
    @EnumSource(Numerics.class)
    void a_session_goes_on_without_it_also_when_forked_or_restored(Numerics numerics) throws IOException {
        open(numerics, DType.FP32);
        int[] longer = lm.generate(ids(25), OPTIONS).ids();
        try (Session session = lm.newSession()) {
            assertThrows(GenerationException.class, () -> session.generate(bad(30, 26), OPTIONS));
            session.save(folder.resolve("saved"));
            try (Session fork = session.fork();
                    Session restored = lm.restoreSession(folder.resolve("saved"))) {
                for (Session each : List.of(session, fork, restored)) {
                    assertArrayEquals(longer, each.generate(ids(25), OPTIONS).ids());
                    assertThrows(GenerationException.class, () -> each.generate(bad(31, 26), OPTIONS));
                    assertArrayEquals(expected, each.generate(ids(9), OPTIONS).ids());
                    assertThrows(ContextOverflowException.class, () -> each.generate(ids(129), OPTIONS));
                    assertArrayEquals(longer, each.generate(ids(25), OPTIONS).ids());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Numerics.class)
    void what_was_computed_before_a_cancellation_is_only_kept_when_it_is_numbers(Numerics numerics) throws IOException {
        open(numerics, DType.FP32);
        int[] longer = lm.generate(ids(60), OPTIONS).ids();
        for (int place : new int[] {5, 50}) {
            try (Session session = lm.newSession()) {
                Cancellation cancellation = new Cancellation();
                GenerateOptions cancelling = OPTIONS.withCancellation(cancellation)
                        .withOnPrefill(done -> {
                            if (done >= 32) {
                                cancellation.cancel();
                            }
                        });
                assertEquals(
                        FinishReason.CANCELLED,
                        session.generate(bad(60, place), cancelling).reason());
                Generation next = session.generate(ids(60), OPTIONS);
                assertArrayEquals(longer, next.ids());
                assertEquals(place == 50 ? 32 : 0, next.stats().cachedTokens());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Numerics.class)
    void in_a_batch_the_other_streams_are_what_they_are_alone(Numerics numerics) throws IOException {
        open(numerics, DType.FP32);
        List<BatchRequest> requests = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            requests.add(
                    switch (i) {
                        case 1 -> BatchRequest.of(bad(30, 3), OPTIONS);
                        case 3, 4, 12 -> BatchRequest.of(ids(4 + i), sayingIt());
                        default -> BatchRequest.of(ids(9), OPTIONS);
                    });
        }
        BatchException failure = assertThrows(BatchException.class, () -> lm.generateBatch(requests));
        for (int i = 0; i < requests.size(); i++) {
            Generation result = failure.results().get(i);
            switch (i) {
                case 1, 3, 4, 12 -> {
                    assertEquals(FinishReason.ERROR, result.reason(), "request " + i);
                    assertArrayEquals(i == 1 ? new int[0] : new int[] {NOT_A_NUMBER}, result.ids());
                }
                default -> assertArrayEquals(expected, result.ids(), "request " + i + Arrays.toString(result.ids()));
            }
        }
    }
}
