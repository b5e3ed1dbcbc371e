"""Tiny random checkpoints of the families, with weights large enough that a mistake shows."""

import torch
import transformers

SMALL = {
    "vocab_size": 97,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "factor": 2.0,
    "short_factor": [1.0, 1.1, 1.3, 1.7],
    "long_factor": [2.0, 3.0, 4.0, 5.0],
    "original_max_position_embeddings": 64,
}

FAMILIES = {
    "llama": ("Llama", {}),
    "llama-tied-biased": ("Llama", {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True}),
    "llama-one-head-each": ("Llama", {"num_key_value_heads": 6}),
    "llama-wide-heads": ("Llama", {"head_dim": 16}),
    "llama-rope-llama3": ("Llama", {"rope_parameters": LLAMA3}),
    "llama-rope-linear": ("Llama", {"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e4}}),
    "llama-rope-yarn": ("Llama", {"rope_parameters": YARN}),
    "llama-rope-dynamic": (
        "Llama",
        {
            "rope_parameters": {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4},
            "max_position_embeddings": 32,
        },
    ),
    "llama-rope-longrope": ("Llama", {"rope_parameters": LONGROPE}),
    "qwen2": ("Qwen2", {}),
    "qwen2-sliding": ("Qwen2", {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}),
    "qwen3": ("Qwen3", {"head_dim": 16}),
    "mistral": ("Mistral", {"sliding_window": None}),
    "mistral-sliding": ("Mistral", {"sliding_window": 5}),
    "gemma": ("Gemma", {"head_dim": 8}),
    "gemma2": ("Gemma2", {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 12}),
    "gemma3": (
        "Gemma3",
        {
            "head_dim": 8,
            "sliding_window": 4,
            "query_pre_attn_scalar": 12,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "phi3": ("Phi3", {"sliding_window": None, "pad_token_id": 0}),
    "granite": (
        "Granite",
        {"embedding_multiplier": 12.0, "logits_scaling": 8.0, "residual_multiplier": 0.22, "attention_multiplier": 0.1},
    ),
    "smollm3": ("SmolLM3", {"no_rope_layers": [1, 0, 1], "pad_token_id": 0}),
    "olmo2": ("Olmo2", {}),
    "stablelm-partial-rope": ("StableLm", {"partial_rotary_factor": 0.5}),
    "glm4": ("Glm4", {"head_dim": 8, "pad_token_id": 0}),
    "mistral-small": ("Mistral", {"head_dim": 16, "sliding_window": None, "rope_parameters": {"rope_theta": 1e8}}),
    "phi4": ("Phi3", {"sliding_window": None, "pad_token_id": 0, "partial_rotary_factor": 0.5}),
    "qwen3-moe": (
        "Qwen3Moe",
        {
            "head_dim": 16,
            "num_experts": 8,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 24,
            "norm_topk_prob": True,
        },
    ),
    "qwen3-moe-some-dense": (
        "Qwen3Moe",
        {"num_experts": 4, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "mlp_only_layers": [1]},
    ),
    "mixtral": ("Mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None}),
    "granitemoe": ("GraniteMoe", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "olmoe": ("Olmoe", {"num_experts": 8, "num_experts_per_tok": 2}),
    "olmo": ("Olmo", {}),
    "olmo3": ("Olmo3", {"sliding_window": 5}),
    "phi": ("Phi", {}),
    "gptneox": ("GPTNeoX", {}),
    "starcoder2": ("Starcoder2", {"sliding_window": None}),
    "helium": ("Helium", {"head_dim": 8}),
    "seed-oss": ("SeedOss", {"head_dim": 8}),
    "ernie4.5": ("Ernie4_5", {"head_dim": 8}),
    "nemotron": ("Nemotron", {}),
    "hunyuan-dense": ("HunYuanDenseV1", {"head_dim": 8, "pad_token_id": 0}),
    "arcee": ("Arcee", {}),
    "apertus": ("Apertus", {}),
}

TITLES = {
    "Llama": "Llama 2 and 3.x, SmolLM2, and whatever calls itself LlamaForCausalLM",
    "Qwen2": "Qwen2, Qwen2.5",
    "Qwen3": "Qwen3",
    "Mistral": "Mistral, Mistral-Small-24B, Mistral Nemo",
    "Gemma": "Gemma",
    "Gemma2": "Gemma 2",
    "Gemma3": "Gemma 3, text",
    "Phi3": "Phi-3, Phi-4",
    "Granite": "Granite 3",
    "SmolLM3": "SmolLM3",
    "Olmo2": "OLMo 2",
    "StableLm": "StableLM 2",
    "Glm4": "GLM-4-0414",
    "Qwen3Moe": "Qwen3-MoE",
    "Mixtral": "Mixtral",
    "GraniteMoe": "Granite-MoE",
    "Olmoe": "OLMoE",
    "Olmo": "OLMo",
    "Olmo3": "OLMo 3",
    "Phi": "Phi-1.5, Phi-2",
    "GPTNeoX": "GPT-NeoX, Pythia",
    "Starcoder2": "StarCoder2",
    "Helium": "Helium",
    "SeedOss": "Seed-OSS",
    "Ernie4_5": "ERNIE 4.5, dense",
    "Nemotron": "Nemotron",
    "HunYuanDenseV1": "Hunyuan, dense",
    "Arcee": "Arcee AFM",
    "Apertus": "Apertus",
}
"""What people call the models of a class."""

GGUF = {"Llama", "Qwen2", "Qwen3", "Mistral", "Gemma", "Gemma2", "Gemma3", "Phi3", "Granite", "Olmo2", "SmolLM3"}
"""Classes whose GGUF files are read; a Mistral's says that it is a llama."""


def tiny(family: str, **overrides) -> torch.nn.Module:
    """A random model of the family, the same each time."""
    name, values = FAMILIES[family]
    config = "Gemma3TextConfig" if name == "Gemma3" else f"{name}Config"
    return make(name, getattr(transformers, config)(**{**SMALL, **values, **overrides}))


def make(name: str, config) -> torch.nn.Module:
    torch.manual_seed(1)
    model = getattr(transformers, f"{name}ForCausalLM")._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            else:
                parameter.copy_(torch.randn_like(parameter) * (1.5 / parameter.shape[1] ** 0.5))
    return model.requires_grad_(False)
