package dev.torchane.host;

import dev.torchane.testing.LittleEndian;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Random checkpoints with the layers of Mistral-Small-24B: hidden 5120, 32 heads of 128, 8 for keys and values, MLP 32768. Written
 * tensor by tensor, so that any number of layers fits in memory.
 *
 * @param layers of the model; the real one has 40
 * @param vocab rows of the embedding and of the head; the real one has 131072
 */
record LargeCheckpoint(int layers, int vocab) {

    private static final int HIDDEN = 5120;
    private static final int HEADS = 32;
    private static final int KV_HEADS = 8;
    private static final int HEAD_DIM = 128;
    private static final int MLP = 32768;
    private static final int BLOCK = 256;
    private static final int BLOCK_BYTES = 144;
    private static final int TILE = 1 << 20;

    /** Shapes by Hugging Face name; rank 1 is a norm. */
    private Map<String, List<Integer>> shapes() {
        Map<String, List<Integer>> shapes = new LinkedHashMap<>();
        shapes.put("model.embed_tokens.weight", List.of(vocab, HIDDEN));
        for (int i = 0; i < layers; i++) {
            String layer = "model.layers." + i + ".";
            shapes.put(layer + "self_attn.q_proj.weight", List.of(HEADS * HEAD_DIM, HIDDEN));
            shapes.put(layer + "self_attn.k_proj.weight", List.of(KV_HEADS * HEAD_DIM, HIDDEN));
            shapes.put(layer + "self_attn.v_proj.weight", List.of(KV_HEADS * HEAD_DIM, HIDDEN));
            shapes.put(layer + "self_attn.o_proj.weight", List.of(HIDDEN, HEADS * HEAD_DIM));
            shapes.put(layer + "mlp.gate_proj.weight", List.of(MLP, HIDDEN));
            shapes.put(layer + "mlp.up_proj.weight", List.of(MLP, HIDDEN));
            shapes.put(layer + "mlp.down_proj.weight", List.of(HIDDEN, MLP));
            shapes.put(layer + "input_layernorm.weight", List.of(HIDDEN));
            shapes.put(layer + "post_attention_layernorm.weight", List.of(HIDDEN));
        }
        shapes.put("model.norm.weight", List.of(HIDDEN));
        shapes.put("lm_head.weight", List.of(vocab, HIDDEN));
        return shapes;
    }

    /** Writes config.json and one safetensors file of bf16 for each layer, and answers the directory. */
    Path writeSafetensors(Path directory) {
        try {
            Files.createDirectories(directory);
            Files.writeString(directory.resolve("config.json"), """
                    {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "hidden_size": %d,
                     "intermediate_size": %d, "num_hidden_layers": %d, "num_attention_heads": %d,
                     "num_key_value_heads": %d, "head_dim": %d, "vocab_size": %d, "max_position_embeddings": 32768,
                     "rms_norm_eps": 1e-5, "rope_theta": 1e8, "sliding_window": null, "hidden_act": "silu",
                     "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": false}
                    """.formatted(
                            HIDDEN, MLP, layers, HEADS, KV_HEADS, HEAD_DIM, vocab));
            Map<String, Map<String, List<Integer>>> shards = new LinkedHashMap<>();
            shapes().forEach((name, shape) -> shards.computeIfAbsent(shard(name), _ -> new LinkedHashMap<>())
                    .put(name, shape));
            for (var shard : shards.entrySet()) {
                writeShard(directory.resolve(shard.getKey()), shard.getValue());
            }
            String map = shapes().keySet().stream()
                    .map(name -> "\"" + name + "\": \"" + shard(name) + "\"")
                    .collect(Collectors.joining(", "));
            Files.writeString(
                    directory.resolve("model.safetensors.index.json"),
                    "{\"metadata\": {}, \"weight_map\": {" + map + "}}");
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String shard(String name) {
        String layer = name.startsWith("model.layers.") ? name.split("\\.")[2] : Integer.toString(layers);
        return "model-%05d-of-%05d.safetensors".formatted(Integer.parseInt(layer) + 1, layers + 1);
    }

    private static void writeShard(Path file, Map<String, List<Integer>> shapes) throws IOException {
        StringBuilder header = new StringBuilder("{");
        long at = 0;
        for (var each : shapes.entrySet()) {
            long end = at + 2 * elements(each.getValue());
            header.append(header.length() > 1 ? "," : "")
                    .append("\"%s\":{\"dtype\":\"BF16\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                            .formatted(each.getKey(), each.getValue(), at, end));
            at = end;
        }
        header.append("}");
        header.append(" ".repeat(7 - (header.length() + 7) % 8));
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            out.write(new LittleEndian().int64(header.length()).toBytes());
            out.write(header.toString().getBytes(StandardCharsets.UTF_8));
            for (var each : shapes.entrySet()) {
                boolean norm = each.getValue().size() == 1;
                // Uniform values of the spread that keeps what is multiplied as large as it was.
                double width = Math.sqrt(3.0 / each.getValue().getLast());
                SplittableRandom random = new SplittableRandom(each.getKey().hashCode());
                tiles(2 * elements(each.getValue()), out, tile -> {
                    while (tile.hasRemaining()) {
                        double value = 2 * random.nextDouble() - 1;
                        float weight = (float) (norm ? 1 + 0.1 * value : width * value);
                        tile.putShort((short) (Float.floatToRawIntBits(weight) >>> 16));
                    }
                });
            }
        }
    }

    private interface Filling {
        void fill(ByteBuffer tile);
    }

    private static void tiles(long bytes, OutputStream out, Filling filling) throws IOException {
        byte[] tile = new byte[TILE / BLOCK_BYTES * BLOCK_BYTES];
        for (long done = 0; done < bytes; done += tile.length) {
            int size = (int) Math.min(tile.length, bytes - done);
            filling.fill(ByteBuffer.wrap(tile, 0, size).order(ByteOrder.LITTLE_ENDIAN));
            out.write(tile, 0, size);
        }
    }

    /**
     * Writes a GGUF file whose matrices are Q4_K.
     *
     * @param sparse leaves out the weights: zeros that take no room on the disk
     */
    Path writeGguf(Path file, boolean sparse) {
        Map<String, List<Integer>> shapes = shapes();
        LittleEndian head = new LittleEndian();
        head.int32(0x46554747).int32(3).int64(shapes.size()).int64(11);
        head.string("general.architecture").int32(8).string("llama");
        number(head, "block_count", layers);
        number(head, "context_length", 32768);
        number(head, "embedding_length", HIDDEN);
        number(head, "feed_forward_length", MLP);
        number(head, "attention.head_count", HEADS);
        number(head, "attention.head_count_kv", KV_HEADS);
        number(head, "attention.key_length", HEAD_DIM);
        number(head, "attention.value_length", HEAD_DIM);
        head.string("llama.attention.layer_norm_rms_epsilon").int32(6).float32(1e-5f);
        head.string("llama.rope.freq_base").int32(6).float32(1e8f);
        long at = 0;
        for (var each : shapes.entrySet()) {
            List<Integer> shape = each.getValue();
            head.string(ggufName(each.getKey())).int32(shape.size());
            shape.reversed().forEach(axis -> head.int64(axis));
            head.int32(shape.size() == 1 ? 0 : 12).int64(at);
            at = (at + bytes(shape) + 31) / 32 * 32;
        }
        head.align(32);
        try {
            Files.write(file, head.toBytes());
            if (sparse) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.write(ByteBuffer.allocate(1), channel.size() + at - 1);
                }
                return file;
            }
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file, StandardOpenOption.APPEND))) {
                for (var each : shapes.entrySet()) {
                    writeBlocks(each.getKey(), each.getValue(), out);
                    out.write(new byte[(int) (-bytes(each.getValue()) & 31)]);
                }
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void writeBlocks(String name, List<Integer> shape, OutputStream out) throws IOException {
        SplittableRandom random = new SplittableRandom(name.hashCode());
        if (shape.size() == 1) {
            ByteBuffer norm = ByteBuffer.allocate(4 * shape.getFirst()).order(ByteOrder.LITTLE_ENDIAN);
            while (norm.hasRemaining()) {
                norm.putFloat((float) (0.9 + 0.2 * random.nextDouble()));
            }
            out.write(norm.array());
            return;
        }
        // Scale and minimum of each group of 32 are 32 steps of d and of 7.5 d: weights between -7.5 and 7.5 times 32
        // d.
        double width = Math.sqrt(3.0 / shape.getLast());
        short scale = Float.floatToFloat16((float) (width / 7.5 / 32));
        short minimum = Float.floatToFloat16((float) (width / 32));
        byte[] scales = {32, 32, 32, 32, 32, 32, 32, 32, 0, 0, 0, 0};
        for (int group = 0; group < 4; group++) {
            scales[group] |= (byte) (2 << 6); // the high bits of the other four
            scales[4 + group] |= (byte) (2 << 6);
        }
        byte[] nibbles = new byte[BLOCK / 2];
        tiles(bytes(shape), out, tile -> {
            while (tile.hasRemaining()) {
                random.nextBytes(nibbles);
                tile.putShort(scale).putShort(minimum).put(scales).put(nibbles);
            }
        });
    }

    private static void number(LittleEndian head, String key, int value) {
        head.string("llama." + key).int32(4).int32(value);
    }

    private static String ggufName(String name) {
        return name.replace("model.embed_tokens", "token_embd")
                .replace("lm_head", "output")
                .replace("model.norm", "output_norm")
                .replace("model.layers.", "blk.")
                .replace("self_attn.q_proj", "attn_q")
                .replace("self_attn.k_proj", "attn_k")
                .replace("self_attn.v_proj", "attn_v")
                .replace("self_attn.o_proj", "attn_output")
                .replace("post_attention_layernorm", "ffn_norm")
                .replace("input_layernorm", "attn_norm")
                .replace("mlp.gate_proj", "ffn_gate")
                .replace("mlp.up_proj", "ffn_up")
                .replace("mlp.down_proj", "ffn_down");
    }

    private static long elements(List<Integer> shape) {
        return shape.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
    }

    private static long bytes(List<Integer> shape) {
        return shape.size() == 1 ? 4L * shape.getFirst() : elements(shape) / BLOCK * BLOCK_BYTES;
    }
}
