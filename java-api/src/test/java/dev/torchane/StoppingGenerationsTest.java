package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.llm.FinishReason;
import dev.torchane.testing.TinyBundle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Generations that are stopped, by whom and when. The model says one token for ever. */
class StoppingGenerationsTest {

    private static final GenerateOptions FOREVER =
            GenerateOptions.defaults().withRaw(true).withMaxNewTokens(Integer.MAX_VALUE);

    private CausalLM lm;

    @BeforeEach
    void open(@TempDir Path folder) {
        lm = CausalLM.open(
                TinyBundle.write(folder), CausalLMOptions.builder().threads(1).build());
    }

    @AfterEach
    void close() {
        lm.close();
    }

    private static int[] prompt(int tokens) {
        int[] ids = new int[tokens];
        Arrays.fill(ids, 70);
        return ids;
    }

    private void assertUsable() {
        assertEquals(
                TinyBundle.TOKEN.repeat(2),
                lm.generate("hello", FOREVER.withMaxNewTokens(2)).text());
    }

    @Test
    void a_cancellation_from_another_thread_ends_within_one_step() throws Exception {
        Cancellation cancellation = new Cancellation();
        CountDownLatch third = new CountDownLatch(3);
        CountDownLatch cancelled = new CountDownLatch(1);
        CompletableFuture<Generation> future =
                lm.generateAsync("hello", FOREVER.withCancellation(cancellation).withOnToken(token -> {
                    third.countDown();
                    if (third.getCount() == 0) {
                        await(cancelled);
                    }
                }));
        await(third);
        cancellation.cancel();
        cancelled.countDown();
        Generation end = future.get(30, TimeUnit.SECONDS);
        assertEquals(FinishReason.CANCELLED, end.reason());
        assertEquals(TinyBundle.TOKEN.repeat(3), end.text());
        assertUsable();
    }

    @Test
    void cancelling_the_future_ends_the_generation_and_frees_the_model() throws Exception {
        for (int round = 0; round < 10; round++) {
            CountDownLatch began = new CountDownLatch(2);
            CompletableFuture<Generation> ended = new CompletableFuture<>();
            CompletableFuture<Generation> future = lm.generateAsync(
                    "hello",
                    FOREVER.withOnToken(_ -> {
                                began.countDown();
                                pause();
                            })
                            .withOnEnd(ended::complete));
            await(began);
            assertTrue(future.cancel(true));
            assertThrows(CancellationException.class, future::get);
            assertUsable();
            Generation end = ended.get(30, TimeUnit.SECONDS);
            assertEquals(FinishReason.CANCELLED, end.reason());
            assertEquals(TinyBundle.TOKEN.repeat(end.ids().length), end.text());
        }
    }

    @Test
    void a_future_that_times_out_ends_the_generation() {
        CompletableFuture<Generation> future =
                lm.generateAsync("hello", FOREVER.withOnToken(_ -> pause())).orTimeout(200, TimeUnit.MILLISECONDS);
        assertThrows(ExecutionException.class, future::get);
        assertUsable();
    }

    @Test
    void a_timeout_keeps_the_text() {
        Generation end =
                lm.generate("hello", FOREVER.withTimeout(Duration.ofMillis(50)).withOnToken(_ -> pause()));
        assertEquals(FinishReason.CANCELLED, end.reason());
        assertTrue(end.text().startsWith(TinyBundle.TOKEN), end.text());
    }

    @Test
    void a_prefill_is_left_between_its_windows() {
        Cancellation cancellation = new Cancellation();
        List<Integer> heard = new ArrayList<>();
        Generation end =
                lm.generate(prompt(100), FOREVER.withCancellation(cancellation).withOnPrefill(done -> {
                    heard.add(done);
                    if (done == 32) {
                        cancellation.cancel();
                    }
                }));
        assertEquals(List.of(16, 32), heard);
        assertEquals(FinishReason.CANCELLED, end.reason());
        assertEquals(0, end.ids().length);
        assertEquals(32, lm.position());
        assertUsable();
    }

    @Test
    void an_interrupted_thread_generates_no_further() throws Exception {
        CompletableFuture<Generation> result = new CompletableFuture<>();
        CountDownLatch began = new CountDownLatch(1);
        Thread thread = Thread.ofVirtual().start(() -> {
            result.complete(lm.generate("hello", FOREVER.withOnToken(_ -> {
                began.countDown();
                pause();
            })));
        });
        await(began);
        thread.interrupt();
        assertEquals(FinishReason.CANCELLED, result.get(30, TimeUnit.SECONDS).reason());
    }

    @Test
    void a_stream_computes_a_token_when_it_is_pulled_and_ends_when_it_is_closed() {
        List<Token> computed = new ArrayList<>();
        List<Generation> ends = new ArrayList<>();
        GenerateOptions options = FOREVER.withOnToken(computed::add).withOnEnd(ends::add);
        try (Stream<Token> stream = lm.stream("hello", options)) {
            Iterator<Token> tokens = stream.iterator();
            assertEquals(0, computed.size());
            for (int i = 1; i <= 3; i++) {
                assertEquals(TinyBundle.TOKEN, tokens.next().text());
                assertEquals(i, computed.size());
            }
            String refusal = assertThrows(IllegalStateException.class, () -> lm.generate("hello", FOREVER))
                    .getMessage();
            assertTrue(refusal.contains("nor closed"), refusal);
        }
        assertEquals(FinishReason.CANCELLED, ends.getFirst().reason());
        assertEquals(TinyBundle.TOKEN.repeat(3), ends.getFirst().text());
        assertUsable();
    }

    @Test
    void a_stream_may_be_closed_by_another_thread_and_by_its_own_consumer() throws Exception {
        Stream<Token> pulled = lm.stream("hello", FOREVER);
        CountDownLatch began = new CountDownLatch(1);
        CompletableFuture<Long> count = CompletableFuture.supplyAsync(() -> pulled.peek(_ -> {
                    began.countDown();
                    pause();
                })
                .count());
        await(began);
        pulled.close();
        assertTrue(count.get(30, TimeUnit.SECONDS) > 0);
        assertUsable();
        Stream<Token> own = lm.stream("hello", FOREVER);
        assertEquals(1, own.peek(_ -> own.close()).count());
        assertUsable();
        Stream<Token> untouched = lm.stream("hello", FOREVER);
        untouched.close();
        untouched.close();
        assertUsable();
    }

    @Test
    void a_listener_that_calls_back_while_its_stream_is_being_closed_is_refused_and_does_not_wait_for_itself() {
        for (GenerateOptions callingBack : List.of(
                FOREVER.withOnEnd(_ -> lm.generate("a", FOREVER)),
                FOREVER.withStop(" world!").withOnText(_ -> lm.reset()))) {
            assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
                Stream<Token> stream = lm.stream("hello", callingBack);
                stream.iterator().next();
                Throwable refusal =
                        assertThrows(GenerationException.class, stream::close).getCause();
                assertTrue(refusal.getMessage().contains("in use by another call"), refusal.getMessage());
            });
            assertUsable();
        }
    }

    @Test
    void a_listener_cannot_pull_the_stream_it_listens_to() {
        List<Iterator<Token>> tokens = new ArrayList<>();
        try (Stream<Token> stream =
                lm.stream("hello", FOREVER.withOnToken(_ -> tokens.getFirst().next()))) {
            tokens.add(stream.iterator());
            GenerationException refusal = assertThrows(
                    GenerationException.class, () -> tokens.getFirst().next());
            assertInstanceOf(IllegalStateException.class, refusal.getCause());
            assertEquals(1, refusal.partial().ids().length);
        }
        assertUsable();
    }

    @Test
    void a_listener_may_close_the_stream_it_listens_to() {
        List<Stream<Token>> streams = new ArrayList<>();
        streams.add(
                lm.stream("hello", FOREVER.withOnText(_ -> streams.getFirst().close())));
        assertEquals(1, streams.getFirst().count());
        streams.set(
                0,
                lm.stream("hello", FOREVER.withOnToken(_ -> streams.getFirst().close())));
        streams.getFirst().iterator().next();
        assertUsable();
    }

    @Test
    void a_parallel_stream_keeps_the_order() {
        try (Stream<Token> stream = lm.stream("hello", FOREVER.withMaxNewTokens(50))) {
            assertEquals(50, stream.parallel().map(Token::text).toList().size());
        }
    }

    @Test
    void a_model_closed_under_a_stream_a_future_or_a_subscriber_is_an_illegal_state() throws Exception {
        Stream<Token> stream = lm.stream("hello", FOREVER);
        Iterator<Token> tokens = stream.iterator();
        tokens.next();
        lm.close();
        IllegalStateException end = assertThrows(IllegalStateException.class, tokens::next);
        assertTrue(end.getMessage().contains("closed"), end.getMessage());
        assertEquals(
                TinyBundle.TOKEN,
                assertInstanceOf(GenerationException.class, end.getCause())
                        .partial()
                        .text());
        stream.close();
        assertThrows(IllegalStateException.class, () -> lm.stream("hello", FOREVER));
        assertThrows(IllegalStateException.class, () -> lm.generateAsync("hello", FOREVER));
    }

    /** Notes signals; asks for nothing by itself. */
    private static final class Listening implements Flow.Subscriber<Token> {
        private final BlockingQueue<Object> signals = new LinkedBlockingQueue<>();
        private Flow.Subscription subscription;

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
        }

        @Override
        public void onNext(Token token) {
            signals.add(token);
        }

        @Override
        public void onError(Throwable failure) {
            signals.add(failure);
        }

        @Override
        public void onComplete() {
            signals.add("complete");
        }

        Object next() throws InterruptedException {
            Object signal = signals.poll(30, TimeUnit.SECONDS);
            assertTrue(signal != null, "a signal");
            return signal;
        }
    }

    @Test
    void a_subscriber_gets_as_many_tokens_as_it_asked_for_and_the_model_computes_no_more() throws Exception {
        List<Token> computed = java.util.Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Generation> ended = new CompletableFuture<>();
        Listening subscriber = new Listening();
        lm.publisher("hello", FOREVER.withOnToken(computed::add).withOnEnd(ended::complete))
                .subscribe(subscriber);
        assertUsable();
        subscriber.subscription.request(2);
        assertInstanceOf(Token.class, subscriber.next());
        assertInstanceOf(Token.class, subscriber.next());
        Thread.sleep(50);
        assertEquals(2, computed.size());
        subscriber.subscription.request(1);
        assertInstanceOf(Token.class, subscriber.next());
        subscriber.subscription.cancel();
        assertEquals(FinishReason.CANCELLED, ended.get(30, TimeUnit.SECONDS).reason());
        assertUsable();
        subscriber.subscription.request(5);
        Thread.sleep(50);
        assertEquals(0, subscriber.signals.size());
        assertEquals(3, computed.size());
    }

    @Test
    void a_publication_completes_without_further_demand() throws Exception {
        Listening subscriber = new Listening();
        lm.publisher("hello", FOREVER.withMaxNewTokens(3)).subscribe(subscriber);
        subscriber.subscription.request(3);
        for (int i = 0; i < 3; i++) {
            assertEquals(TinyBundle.TOKEN, ((Token) subscriber.next()).text());
        }
        assertEquals("complete", subscriber.next());
        assertUsable();
    }

    @Test
    void a_demand_that_is_not_positive_is_an_error_and_ends_the_generation() throws Exception {
        Listening subscriber = new Listening();
        lm.publisher("hello", FOREVER).subscribe(subscriber);
        subscriber.subscription.request(1);
        subscriber.next();
        subscriber.subscription.request(0);
        assertInstanceOf(IllegalArgumentException.class, subscriber.next());
        assertUsable();
    }

    @Test
    void a_model_in_use_is_an_error_of_the_subscriber_and_each_subscriber_has_a_generation_of_its_own()
            throws Exception {
        Flow.Publisher<Token> publisher = lm.publisher("hello", FOREVER.withMaxNewTokens(1));
        try (Stream<Token> stream = lm.stream("hello", FOREVER)) {
            stream.iterator().next();
            Listening refused = new Listening();
            publisher.subscribe(refused);
            refused.subscription.request(1);
            assertInstanceOf(IllegalStateException.class, refused.next());
        }
        for (int i = 0; i < 2; i++) {
            Listening subscriber = new Listening();
            publisher.subscribe(subscriber);
            subscriber.subscription.request(Long.MAX_VALUE);
            subscriber.subscription.request(Long.MAX_VALUE);
            assertInstanceOf(Token.class, subscriber.next());
            assertEquals("complete", subscriber.next());
        }
        assertThrows(NullPointerException.class, () -> publisher.subscribe(null));
    }

    @Test
    void a_subscriber_that_throws_whatever_it_is_has_cancelled() throws Exception {
        for (Throwable thrown : List.of(new IllegalArgumentException("no"), new AssertionError("no"))) {
            CompletableFuture<Generation> ended = new CompletableFuture<>();
            Flow.Subscriber<Token> subscriber = new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription given) {
                    given.request(5);
                }

                @Override
                public void onNext(Token token) {
                    if (thrown instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) thrown;
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onComplete() {}
            };
            lm.publisher("hello", FOREVER.withOnEnd(ended::complete)).subscribe(subscriber);
            Generation end = ended.get(30, TimeUnit.SECONDS);
            assertEquals(FinishReason.CANCELLED, end.reason());
            assertEquals(1, end.ids().length);
            assertUsable();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
