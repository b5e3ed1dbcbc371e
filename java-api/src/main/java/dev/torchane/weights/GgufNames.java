package dev.torchane.weights;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** GGUF's tensor names to those of Hugging Face models, for decoder-only transformers. */
final class GgufNames {

    private static final Pattern BLOCK = Pattern.compile("blk\\.(0|[1-9]\\d{0,5})\\.(\\w+)\\.(weight|bias)");

    private static final Map<String, String> OUTER = Map.of(
            "token_embd.weight", "model.embed_tokens.weight",
            "output_norm.weight", "model.norm.weight",
            "output.weight", "lm_head.weight");

    private static final Map<String, String> INNER = Map.ofEntries(
            Map.entry("attn_q", "self_attn.q_proj"),
            Map.entry("attn_k", "self_attn.k_proj"),
            Map.entry("attn_v", "self_attn.v_proj"),
            Map.entry("attn_output", "self_attn.o_proj"),
            Map.entry("attn_q_norm", "self_attn.q_norm"),
            Map.entry("attn_k_norm", "self_attn.k_norm"),
            Map.entry("attn_norm", "input_layernorm"),
            Map.entry("ffn_norm", "post_attention_layernorm"),
            Map.entry("ffn_gate", "mlp.gate_proj"),
            Map.entry("ffn_up", "mlp.up_proj"),
            Map.entry("ffn_down", "mlp.down_proj"));

    /** Gemma 2 and 3 norm their sub-layers' outputs too, so the same GGUF name stands for another norm. */
    private static final Map<String, String> INNER_GEMMA = Map.of(
            "post_attention_norm", "post_attention_layernorm",
            "ffn_norm", "pre_feedforward_layernorm",
            "post_ffw_norm", "post_feedforward_layernorm");

    /** OLMo 2 norms the outputs only. */
    private static final Map<String, String> INNER_OLMO2 = Map.of(
            "post_attention_norm", "post_attention_layernorm",
            "post_ffw_norm", "post_feedforward_layernorm");

    /** Phi-3 has one matrix for query, key and value, and one for gate and up. */
    private static final Map<String, String> INNER_PHI3 = Map.of(
            "attn_qkv", "self_attn.qkv_proj",
            "ffn_up", "mlp.gate_up_proj");

    /** The router of a mixture. */
    private static final Map<String, String> INNER_QWEN3MOE = Map.of("ffn_gate_inp", "mlp.gate");

    private static final Pattern EXPERTS =
            Pattern.compile("blk\\.(0|[1-9]\\d{0,5})\\.ffn_(gate|up|down)_exps\\.weight");

    private GgufNames() {}

    /** The Hugging Face name; empty for a tensor the architecture does not have. */
    static Optional<String> huggingFace(GgufArchitecture architecture, String name) {
        if (OUTER.containsKey(name)) {
            return Optional.of(OUTER.get(name));
        }
        Matcher block = BLOCK.matcher(name);
        if (!block.matches()) {
            return Optional.empty();
        }
        String own = own(architecture).getOrDefault(block.group(2), INNER.get(block.group(2)));
        return Optional.ofNullable(own)
                .map(part -> "model.layers." + block.group(1) + "." + part + "." + block.group(3));
    }

    /** Whether it holds one matrix of all experts of a layer, an axis of experts first. */
    static boolean isExperts(GgufArchitecture architecture, String name) {
        return architecture == GgufArchitecture.QWEN3MOE
                && EXPERTS.matcher(name).matches();
    }

    /** The Hugging Face name of one expert's part of a tensor for which {@link #isExperts} holds. */
    static String expert(String name, long expert) {
        return EXPERTS.matcher(name).replaceFirst("model.layers.$1.mlp.experts." + expert + ".$2_proj.weight");
    }

    /** Names that mean something else than usual. */
    private static Map<String, String> own(GgufArchitecture architecture) {
        return switch (architecture) {
            case GEMMA2, GEMMA3 -> INNER_GEMMA;
            case OLMO2 -> INNER_OLMO2;
            case PHI3 -> INNER_PHI3;
            case QWEN3MOE -> INNER_QWEN3MOE;
            case LLAMA, QWEN2, QWEN3, GEMMA, GRANITE, SMOLLM3 -> Map.of();
        };
    }
}
