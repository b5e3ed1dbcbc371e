"""What cannot be right is refused, and the message says what and why."""

import json

import pytest
import torch
import transformers

from conftest import export
from models import SMALL, make, tiny
from torch_ane.export import ExportError
from torch_ane.llm import Options, UnsupportedModelError, UnsupportedRopeError
from torch_ane.lowering import LoweringError


def test_learned_positions():
    config = transformers.GPT2Config(n_embd=48, n_layer=2, n_head=4, vocab_size=97, bos_token_id=0, eos_token_id=1)
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config).eval()
    with pytest.raises(UnsupportedModelError, match="GPT2LMHeadModel has 0 rotary embeddings"):
        export(model)


def test_frequencies_that_change_within_the_context():
    model = tiny("llama-rope-longrope")
    with pytest.raises(UnsupportedRopeError, match="'longrope' change beyond 64 tokens.* maxLen of 64 or less"):
        export(model, maxLen=72)


def test_a_scaling_nobody_knows():
    model = tiny("llama")
    model.config.rope_parameters = {"rope_type": "spiral", "rope_theta": 1e4}
    with pytest.raises(UnsupportedRopeError, match="'spiral' is not supported; supported are default, linear"):
        export(model)


def test_an_unknown_operation_is_named_with_its_module():
    model = tiny("llama")

    class Sorted(type(model.model.layers[0].mlp)):
        def forward(self, x):
            return super().forward(x).logcumsumexp(dim=-1)

    for layer in model.model.layers:
        layer.mlp.__class__ = Sorted
    with pytest.raises(LoweringError, match=r"no lowering to MIL for .*aten\.logcumsumexp\S* from layer.mlp \(Sorted"):
        export(model)


def test_layers_that_keep_something_else_than_keys_and_values():
    config = transformers.Qwen3NextConfig(
        **{**SMALL, "num_hidden_layers": 2}, pad_token_id=0, layer_types=["linear_attention", "full_attention"]
    )
    with pytest.raises(UnsupportedModelError, match="Qwen3NextForCausalLM has layers of 'linear_attention'"):
        export(make("Qwen3Next", config))


def test_rotary_embeddings_of_another_kind():
    with pytest.raises(UnsupportedRopeError, match="CohereRotaryEmbedding computes other rows"):
        export(make("Cohere", transformers.CohereConfig(**SMALL)))


def test_a_layer_that_only_looks_like_the_others():
    """Same class, same attributes, same shapes: only its index makes it compute something else."""
    model = tiny("llama")
    layer_class = type(model.model.layers[0])

    class Deceptive(layer_class):
        def forward(self, hidden_states, **kwargs):
            out = super().forward(hidden_states, **kwargs)
            return out * (1 + self.self_attn.layer_idx)

    for layer in model.model.layers:
        layer.__class__ = Deceptive
    with pytest.raises(ExportError, match="layer 1's trace differs from eager"):
        export(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maxLen": 1024}, "maxLen is 1024, but the model has 128 positions"),
        ({"maxLen": 20}, "maxLen must be a multiple of 8"),
        ({"precision": "bf16"}, "precision must be fp32 or fp16, found 'bf16'"),
        ({"prefillWindow": 12}, "prefillWindow must be a multiple of 8"),
        ({"target": "tpu"}, "no target is called 'tpu' with precision fp32: one of ane, cpu, gpu"),
        ({"colour": 1}, r"unknown options \['colour'\]"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        export(tiny("llama"), **options)


def test_a_context_shorter_than_the_prefill_window_shrinks_the_window():
    options = Options.from_json(json.dumps({"maxLen": 128, "prefillWindow": 256}))
    assert options.window(8192) == 128
    assert options.rungs(8192) == (128,)
    assert Options().rungs(8192) == (512, 1024, 2048)
    assert Options().rungs(1000) == (512, 1000)


def test_a_limit_of_the_model_that_is_no_multiple_of_8_gets_a_rung_that_holds_it():
    assert Options().rungs(125) == (128,)
    assert Options(max_len=128).rungs(125) == (128,)
    with pytest.raises(ValueError, match="maxLen is 136, but the model has 125 positions"):
        Options(max_len=136).rungs(125)
