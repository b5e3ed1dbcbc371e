package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.llm.ContextOverflowException;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.llm.SavedStateException;
import dev.torchane.testing.TinyTransformer;
import dev.torchane.text.ChatMessage;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conversations that keep what is computed, and answer as if they did not. */
class SessionTest {

    private static final CausalLMOptions OPTIONS =
            CausalLMOptions.builder().threads(1).build();
    private static final TinyTransformer TINY = TinyTransformer.standard().withLadder(512, 64, 128, 512);

    @TempDir
    Path folder;

    private CausalLM lm;

    @BeforeEach
    void open() {
        lm = CausalLM.open(TINY.write(folder.resolve("bundle")), OPTIONS);
    }

    @AfterEach
    void close() {
        lm.close();
    }

    private static GenerateOptions tokens(int count) {
        return GenerateOptions.defaults().withMaxNewTokens(count);
    }

    private static int[] ids(int count) {
        return IntStream.range(0, count).map(i -> 3 + i * 31 % 260).toArray();
    }

    @Test
    void aTurnComputesOnlyWhatIsNewAndAnswersAsAModelWithoutAMemory() {
        for (GenerateOptions options : List.of(
                tokens(9), tokens(9).withSampling(Sampling.temperature(0.8).withSeed(3)))) {
            try (Session session = lm.newSession()) {
                List<ChatMessage> chat = new ArrayList<>();
                int before = 0;
                for (String message : List.of("hello the world", "and the other", "in the end", "well")) {
                    chat.add(ChatMessage.user(message));
                    Generation answer = session.generate(message, options);
                    Generation cold = lm.generate(chat, options);
                    assertArrayEquals(cold.ids(), answer.ids(), message);
                    assertEquals(cold.text(), answer.text());
                    assertTrue(answer.stats().cachedTokens() >= before, "what the last turn computed is kept");
                    before = answer.stats().promptTokens();
                    chat.add(ChatMessage.assistant(answer.text()));
                    assertEquals(chat, session.messages());
                }
            }
        }
    }

    @Test
    void aTurnOf20TokensBehindALongConversationFeeds20() {
        try (Session session = lm.newSession()) {
            session.generate(ids(400), tokens(1));
            List<Integer> progress = new ArrayList<>();
            Generation turn = session.generate(ids(420), tokens(3).withOnPrefill(progress::add));
            assertEquals(420, turn.stats().promptTokens());
            assertEquals(400, turn.stats().cachedTokens());
            assertEquals(420, progress.getLast());
            assertTrue(progress.getFirst() > 400, progress.toString());
        }
    }

    @Test
    void anEditedHistoryKeepsWhatStandsBeforeTheEdit() {
        try (Session session = lm.newSession()) {
            session.generate("hello the world", tokens(8));
            session.generate("and the other", tokens(8));
            List<ChatMessage> edited = new ArrayList<>(session.messages());
            edited.set(2, ChatMessage.user("and something else"));
            List<ChatMessage> asked = edited.subList(0, 3);
            Generation answer = session.generate(asked, tokens(8));
            assertArrayEquals(lm.generate(asked, tokens(8)).ids(), answer.ids());
            assertTrue(answer.stats().cachedTokens() > 0);
            assertEquals(4, session.messages().size());
        }
    }

    @Test
    void rawTextGoesOnBehindEverythingSoFar() {
        try (Session session = lm.newSession()) {
            GenerateOptions raw = tokens(5).withRaw(true);
            int[] first = session.generate("hello", raw).ids();
            int[] second = session.generate(" world", raw).ids();
            int[] whole = session.tokens();
            int[] prompt = Arrays.copyOf(whole, whole.length - second.length);
            assertArrayEquals(lm.generate(prompt, raw).ids(), second);
            int begin = lm.encode("hello", true).length;
            assertArrayEquals(first, Arrays.copyOfRange(whole, begin, begin + first.length));
            session.trim(begin);
            assertArrayEquals(Arrays.copyOf(whole, begin), session.tokens());
            assertThrows(IllegalArgumentException.class, () -> session.trim(begin + 1));
            session.reset();
            assertEquals(0, session.tokens().length);
        }
    }

    @Test
    void aForkGoesItsOwnWay() {
        try (Session session = lm.newSession()) {
            session.generate("hello the world", tokens(8));
            try (Session fork = session.fork()) {
                int[] other = fork.generate("one", tokens(8)).ids();
                int[] own = session.generate("another", tokens(8)).ids();
                assertArrayEquals(
                        lm.generate(fork.messages().subList(0, 3), tokens(8)).ids(), other);
                assertArrayEquals(
                        lm.generate(session.messages().subList(0, 3), tokens(8)).ids(), own);
            }
        }
    }

    @Test
    void aSavedConversationGoesOnInAnotherModelObjectAndIsRefusedByAnotherModel() {
        Path file = folder.resolve("conversation");
        Generation expected;
        try (Session session = lm.newSession()) {
            session.generate("hello the world", tokens(8));
            session.save(file);
            expected = session.generate("and the other", tokens(8));
        }
        try (CausalLM again = CausalLM.open(lm.bundle(), OPTIONS);
                Session restored = again.restoreSession(file)) {
            assertEquals(2, restored.messages().size());
            Generation found = restored.generate("and the other", tokens(8));
            assertArrayEquals(expected.ids(), found.ids());
            assertEquals(expected.stats().cachedTokens(), found.stats().cachedTokens());
        }
        try (CausalLM other = CausalLM.open(TINY.withSeed(6).write(folder.resolve("other")), OPTIONS)) {
            SavedStateException e = assertThrows(SavedStateException.class, () -> other.restoreSession(file));
            assertEquals(SavedStateException.Reason.OTHER_MODEL, e.reason());
            assertTrue(
                    e.getMessage().contains("model is sha256:5 in the file, sha256:6 in this model"), e.getMessage());
        }
    }

    @Test
    void aCountThatItsFileCannotHoldIsRefusedAndNotAllocated() throws Exception {
        Path file = folder.resolve("conversation");
        int[] counted = {9, 3, 34, 65};
        try (Session session = lm.newSession()) {
            session.generate(ids(9), tokens(0));
            session.save(file);
        }
        byte[] saved = Files.readAllBytes(file);
        ByteBuffer counts = ByteBuffer.wrap(saved, 0, saved.length - 32);
        int found = 0;
        for (int at = 0; at < saved.length - 48; at++) {
            int[] here = {counts.getInt(at), counts.getInt(at + 4), counts.getInt(at + 8), counts.getInt(at + 12)};
            if (Arrays.equals(counted, here)) {
                found++;
                for (int wrong : new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE, -1, 1 << 29}) {
                    byte[] changed = saved.clone();
                    ByteBuffer.wrap(changed).putInt(at, wrong);
                    MessageDigest digest = MessageDigest.getInstance("SHA-256");
                    digest.update(changed, 0, changed.length - 32);
                    digest.digest(changed, changed.length - 32, 32);
                    Files.write(file, changed);
                    assertThrows(TorchAneException.class, () -> lm.restoreSession(file));
                }
            }
        }
        assertEquals(2, found, "the tokens of the state and those of the conversation");
    }

    @Test
    void aConversationThatOutgrowsTheContextIsRefusedAndStaysAsItWas() {
        try (Session session = lm.newSession()) {
            session.generate("hello", tokens(4));
            List<ChatMessage> before = session.messages();
            int[] tokens = session.tokens();
            assertThrows(ContextOverflowException.class, () -> session.generate("the world ".repeat(300), tokens(4)));
            assertEquals(before, session.messages());
            assertArrayEquals(tokens, session.tokens());
            assertEquals(
                    FinishReason.LENGTH, session.generate(ids(510), tokens(50)).reason());
        }
    }

    @Test
    void aFailureOnTheWayLeavesTheMessagesAsTheyWere() {
        try (Session session = lm.newSession()) {
            session.generate("hello", tokens(4));
            List<ChatMessage> before = session.messages();
            GenerateOptions failing = tokens(4).withOnToken(_ -> {
                throw new IllegalArgumentException("listener");
            });
            assertThrows(GenerationException.class, () -> session.generate("the world", failing));
            assertEquals(before, session.messages());
            Generation next = session.generate("the world", tokens(4));
            assertArrayEquals(
                    lm.generate(session.messages().subList(0, 3), tokens(4)).ids(), next.ids());
        }
    }

    @Test
    void sessionsOfOneModelRunFromTwoThreads() throws Exception {
        int[] first = lm.generate(ids(40), tokens(60)).ids();
        int[] second = lm.generate(ids(33), tokens(60)).ids();
        try (ExecutorService threads = Executors.newFixedThreadPool(2);
                Session one = lm.newSession();
                Session two = lm.newSession()) {
            for (int round = 0; round < 5; round++) {
                Future<Generation> a = threads.submit(() -> one.generate(ids(40), tokens(60)));
                Future<Generation> b = threads.submit(() -> two.generate(ids(33), tokens(60)));
                assertArrayEquals(first, a.get().ids());
                assertArrayEquals(second, b.get().ids());
            }
        }
    }

    @Test
    void oneCallAtATimeAndNoneAfterTheModelIsClosed() {
        Session session = lm.newSession();
        List<Throwable> refused = new ArrayList<>();
        session.generate("hello", tokens(1).withOnToken(_ -> {
            refused.add(assertThrows(IllegalStateException.class, () -> session.generate("hello", tokens(1))));
        }));
        assertEquals(1, refused.size());
        assertTrue(refused.getFirst().getMessage().contains("this session is in use"));
        Session closed = lm.newSession();
        closed.close();
        closed.close();
        assertThrows(IllegalStateException.class, () -> closed.generate("hello", tokens(1)));
        lm.close();
        assertThrows(IllegalStateException.class, () -> session.generate("hello", tokens(1)));
        assertThrows(IllegalStateException.class, session::fork);
        assertThrows(IllegalStateException.class, lm::newSession);
    }

    @Test
    void aModelClosedWhileASessionGeneratesEndsItWithAnIllegalState() {
        Session session = lm.newSession();
        assertThrows(
                IllegalStateException.class,
                () -> session.generate("hello", tokens(100).withOnToken(_ -> lm.close())));
    }
}
