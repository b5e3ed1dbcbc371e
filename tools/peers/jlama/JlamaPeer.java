import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.tjake.jlama.model.AbstractModel;
import com.github.tjake.jlama.model.ModelSupport;
import com.github.tjake.jlama.safetensors.DType;
import com.github.tjake.jlama.tensor.AbstractTensor;
import com.github.tjake.jlama.tensor.KvBufferCache;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Jlama as a peer of ./torch-ane bench: JlamaPeer MODEL THREADS, with the requests of peer.py. One stream at a time. */
public final class JlamaPeer {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final File path;
    private final AbstractModel model;
    private final KvBufferCache contexts;
    private KvBufferCache.KvBuffer kept;
    private int position;
    private int token;

    private JlamaPeer(File path, int threads) {
        this.path = path;
        this.model = load(Optional.of(threads));
        this.contexts = new KvBufferCache(model);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        JlamaPeer peer = new JlamaPeer(new File(arguments[0]), Integer.parseInt(arguments[1]));
        out.println(JSON.writeValueAsString(Map.of("ready", "Jlama 0.8.4, Q4 weights, F32 activations")));
        out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(peer.answer(JSON.readTree(line))));
            out.flush();
        }
    }

    /** With I8 activations Jlama cannot multiply by a tied head, which stays F32. Threads are said once for the process. */
    private AbstractModel load(Optional<Integer> threads) {
        return ModelSupport.loadModel(path, null, DType.F32, DType.F32, Optional.of(DType.Q4), threads);
    }

    private Map<String, Object> answer(JsonNode request) {
        try {
            int steps = request.path("steps").asInt();
            int[] prompt = JSON.convertValue(request.path("prompt"), int[].class);
            return switch (request.get("work").asText()) {
                case "decode" -> {
                    try (KvBufferCache.KvBuffer context = fresh(contexts)) {
                        int first = feed(model, prompt, 0, context);
                        yield decode(first, prompt.length, steps, context);
                    }
                }
                case "prefill" -> {
                    try (KvBufferCache.KvBuffer context = fresh(contexts)) {
                        long began = System.nanoTime();
                        feed(model, prompt, 0, context);
                        yield measured(prompt.length, began);
                    }
                }
                case "context" -> {
                    if (kept == null) {
                        kept = fresh(contexts);
                        for (position = 0; position < prompt.length; position += 512) {
                            int[] part = java.util.Arrays.copyOfRange(
                                    prompt, position, Math.min(position + 512, prompt.length));
                            token = feed(model, part, position, kept);
                        }
                        position = prompt.length;
                    }
                    Map<String, Object> measured = decode(token, position, steps, kept);
                    position += steps;
                    yield measured;
                }
                case "start" -> {
                    long began = System.nanoTime();
                    try (AbstractModel again = load(Optional.empty());
                            KvBufferCache cache = new KvBufferCache(again);
                            KvBufferCache.KvBuffer context = fresh(cache)) {
                        feed(again, prompt, 0, context);
                        yield measured(1, began);
                    }
                }
                default -> Map.of("error", "Jlama runs one stream at a time");
            };
        } catch (Exception failure) {
            return Map.of("error", failure.toString());
        }
    }

    private static KvBufferCache.KvBuffer fresh(KvBufferCache cache) {
        return cache.getKvBuffer(UUID.randomUUID());
    }

    private Map<String, Object> decode(int first, int at, int steps, KvBufferCache.KvBuffer context) {
        int next = first;
        long began = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            next = feed(model, new int[] {next}, at + i, context);
        }
        return measured(steps, began);
    }

    /** The greedy token behind the ids. */
    private static int feed(AbstractModel model, int[] ids, int at, KvBufferCache.KvBuffer context) {
        try (AbstractTensor<?, ?> logits = model.makeDenseTensor(model.getConfig().vocabularySize)) {
            AbstractTensor<?, ?> rows = model.batchForward(ids, at, context);
            AbstractTensor<?, ?> last = rows.slice(rows.shape().first() - 1);
            int next = model.sample(last, 0f, 0f, logits);
            rows.close();
            return next;
        }
    }

    private static Map<String, Object> measured(int tokens, long began) {
        return Map.of("tokens", tokens, "seconds", (System.nanoTime() - began) / 1e9);
    }
}
