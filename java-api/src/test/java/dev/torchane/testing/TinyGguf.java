package dev.torchane.testing;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Turns a tiny model's tensors into a GGUF file as llama.cpp's converter does. */
final class TinyGguf {

    private static final Map<String, String> PARTS = Map.ofEntries(
            Map.entry("self_attn.q_proj", "attn_q"),
            Map.entry("self_attn.k_proj", "attn_k"),
            Map.entry("self_attn.v_proj", "attn_v"),
            Map.entry("self_attn.o_proj", "attn_output"),
            Map.entry("self_attn.q_norm", "attn_q_norm"),
            Map.entry("self_attn.k_norm", "attn_k_norm"),
            Map.entry("input_layernorm", "attn_norm"),
            Map.entry("post_attention_layernorm", "ffn_norm"),
            Map.entry("mlp.gate_proj", "ffn_gate"),
            Map.entry("mlp.up_proj", "ffn_up"),
            Map.entry("mlp.down_proj", "ffn_down"),
            Map.entry("self_attn.qkv_proj", "attn_qkv"),
            Map.entry("mlp.gate_up_proj", "ffn_up"));

    private static final Map<String, String> GEMMA_PARTS = Map.of(
            "post_attention_layernorm", "post_attention_norm",
            "pre_feedforward_layernorm", "ffn_norm",
            "post_feedforward_layernorm", "post_ffw_norm");

    private static final Set<TinyModel.Architecture> NORM_OUTPUTS =
            Set.of(TinyModel.Architecture.GEMMA2, TinyModel.Architecture.GEMMA3, TinyModel.Architecture.OLMO2);

    private TinyGguf() {}

    /**
     * @param blocks whether matrices whose rows are whole blocks are stored as Q8_0
     */
    static GgufWriter writer(
            TinyModel.Architecture architecture, Map<String, TinyModel.Values> tensors, boolean blocks) {
        String id = architecture == TinyModel.Architecture.GEMMA3
                ? "gemma3"
                : architecture.name().toLowerCase();
        GgufWriter writer = new GgufWriter();
        writer.string("general.architecture", id)
                .string("general.name", "tiny " + id)
                .uint32(id + ".block_count", TinyModel.LAYERS)
                .uint32(id + ".context_length", TinyModel.MAX_POSITION)
                .uint32(id + ".embedding_length", TinyModel.HIDDEN)
                .uint32(id + ".feed_forward_length", TinyModel.INTERMEDIATE)
                .uint32(id + ".attention.head_count", TinyModel.HEADS)
                .uint32(id + ".attention.head_count_kv", TinyModel.KV_HEADS)
                .uint32(id + ".attention.key_length", TinyModel.HEAD_DIM)
                .uint32(id + ".attention.value_length", TinyModel.HEAD_DIM)
                .float32(id + ".attention.layer_norm_rms_epsilon", 1e-5f)
                .float32(id + ".rope.freq_base", 10000f);
        describeOwn(writer, architecture, id);
        TinyTokenizer.describe(writer);
        tensors.forEach((name, tensor) -> {
            float[] values = tensor.values();
            if (architecture.pairsRows() && name.matches(".*[qk]_proj\\.(weight|bias)")) {
                values = paired(values, tensor.shape());
            }
            if (architecture.isGemma() && name.endsWith("norm.weight")) {
                values = plusOne(values);
            }
            if (blocks && tensor.shape().length == 2 && tensor.shape()[1] % 32 == 0) {
                writer.tensor(ggufName(architecture, name), GgufWriter.Q8_0, tensor.shape(), q8(values));
            } else {
                writer.floats(ggufName(architecture, name), tensor.shape(), values);
            }
        });
        return writer;
    }

    private static void describeOwn(GgufWriter writer, TinyModel.Architecture architecture, String id) {
        switch (architecture) {
            case GEMMA2 ->
                writer.uint32(id + ".attention.sliding_window", 32)
                        .float32(id + ".attn_logit_softcapping", 20)
                        .float32(id + ".final_logit_softcapping", 5);
            case GEMMA3 ->
                writer.uint32(id + ".attention.sliding_window", 32)
                        .bools(id + ".attention.sliding_window_pattern", List.of(true, false));
            case PHI3 -> writer.uint32(id + ".rope.dimension_count", TinyModel.HEAD_DIM / 2);
            case GRANITE ->
                writer.float32(id + ".attention.scale", 0.125f)
                        .float32(id + ".embedding_scale", 12)
                        .float32(id + ".residual_scale", 0.25f)
                        .float32(id + ".logit_scale", 8);
            case LLAMA, QWEN2, QWEN3, GEMMA, OLMO2, SMOLLM3 -> {}
        }
    }

    /** The GGUF name of a Hugging Face tensor. */
    static String ggufName(TinyModel.Architecture architecture, String name) {
        switch (name) {
            case "model.embed_tokens.weight" -> {
                return "token_embd.weight";
            }
            case "model.norm.weight" -> {
                return "output_norm.weight";
            }
            case "lm_head.weight" -> {
                return "output.weight";
            }
            default -> {}
        }
        List<String> words = List.of(name.split("\\."));
        String part = String.join(".", words.subList(3, words.size() - 1));
        String inner = PARTS.get(part);
        if (NORM_OUTPUTS.contains(architecture)) {
            inner = GEMMA_PARTS.getOrDefault(part, inner);
        }
        return "blk." + words.get(2) + "." + inner + "." + words.getLast();
    }

    /** Rows of a head h, half s, index i move from (h, s, i) to (h, i, s). */
    static float[] paired(float[] values, long[] shape) {
        int rows = (int) shape[0];
        int columns = values.length / rows;
        int half = TinyModel.HEAD_DIM / 2;
        float[] result = new float[values.length];
        int target = 0;
        for (int head = 0; head < rows / TinyModel.HEAD_DIM; head++) {
            for (int index = 0; index < half; index++) {
                for (int side = 0; side < 2; side++) {
                    int source = head * TinyModel.HEAD_DIM + side * half + index;
                    System.arraycopy(values, source * columns, result, target++ * columns, columns);
                }
            }
        }
        return result;
    }

    /** Blocks of 32 values: a scale of fp16, then int8. */
    private static byte[] q8(float[] values) {
        byte[] blocks = new byte[values.length / 32 * 34];
        for (int i = 0; i < values.length; i += 32) {
            float largest = 1e-4f;
            for (int j = i; j < i + 32; j++) {
                largest = Math.max(largest, Math.abs(values[j]));
            }
            short scale = Float.floatToFloat16(largest / 127);
            int at = i / 32 * 34;
            blocks[at] = (byte) scale;
            blocks[at + 1] = (byte) (scale >> 8);
            for (int j = 0; j < 32; j++) {
                blocks[at + 2 + j] =
                        (byte) Math.clamp(Math.round(values[i + j] / Float.float16ToFloat(scale)), -127, 127);
            }
        }
        return blocks;
    }

    private static float[] plusOne(float[] values) {
        float[] result = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            result[i] = values[i] + 1;
        }
        return result;
    }
}
