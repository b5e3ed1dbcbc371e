"""Each pass on its own: what it finds, what it makes of it, and that nothing else changes."""

import copy
import importlib

import pytest
import torch

from models import tiny
from torch_ane import passes

IDS = torch.tensor([[3, 50, 7, 96, 12]])


@torch.no_grad()
def logits(model):
    return model(input_ids=IDS).logits


def names(model):
    return {type(module).__name__ for module in model.modules()}


def test_lists_are_data_by_target_and_precision():
    listed = {key: [step.__name__ for step in steps] for key, steps in passes.PASSES.items()}
    assert listed["cpu", "fp32"] == ["fresh_rope", "swap_rmsnorm", "swap_attention", "swap_experts"]
    assert listed["ane", "fp32"][-2:] == ["chunk_mlp", "swap_linear"]
    assert [key for key, steps in listed.items() if "rescale_for_fp16" in steps] == [("gpu", "fp16"), ("ane", "fp16")]
    with pytest.raises(ValueError, match="no target is called 'npu'"):
        passes.prepare(torch.nn.Identity(), "npu")


@pytest.mark.parametrize(("family", "own"), [("llama", "LlamaRMSNorm"), ("gemma3", "Gemma3RMSNorm")])
def test_swap_rmsnorm(family, own):
    model = tiny(family)
    expected, count = logits(model), sum(own == type(m).__name__ for m in model.modules())
    assert passes.swap_rmsnorm(model) == count
    assert own not in names(model)
    assert torch.allclose(logits(model), expected, rtol=1e-5, atol=1e-5)


def test_swap_rmsnorm_leaves_what_computes_something_else():
    class FakeRMSNorm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.eps = torch.nn.Parameter(torch.ones(4)), 1e-6

        def forward(self, x):
            return x * self.weight / x.abs().mean(-1, keepdim=True)

    model = torch.nn.Sequential(FakeRMSNorm())
    assert passes.swap_rmsnorm(model) == 0


def test_fresh_rope_makes_rounded_frequencies_exact():
    model = tiny("llama")
    exact = model.model.rotary_emb.inv_freq.clone()
    model.model.rotary_emb.inv_freq = exact.bfloat16().float()
    assert not torch.equal(model.model.rotary_emb.inv_freq, exact)
    assert passes.fresh_rope(model) == 1
    assert torch.equal(model.model.rotary_emb.inv_freq, exact)


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_swap_attention_goes_through_transformers_own_choice(family):
    model = tiny(family)
    expected = logits(model)
    assert passes.swap_attention(model) >= 1
    assert model.config._attn_implementation == "torch_ane"
    from torch_ane.llm._samples import mask

    kinds = ("full_attention", "sliding_attention")
    window = {"full_attention": mask(5, 5), "sliding_attention": mask(5, 5, window=4)}
    given = {kind: window[kind] for kind in kinds} if family == "gemma2" else window["full_attention"]
    with torch.no_grad():
        found = model(input_ids=IDS, attention_mask=given).logits
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_swap_linear_makes_convolutions_and_keeps_the_head():
    model = tiny("llama-tied-biased")
    expected = logits(model)
    assert passes.swap_linear(model) == 3 * 7
    assert type(model.lm_head) is torch.nn.Linear
    assert torch.allclose(logits(model), expected, rtol=1e-4, atol=1e-5)


def test_chunk_mlp_splits_wide_mlps_only(monkeypatch):
    model = tiny("llama-tied-biased")
    whole, expected = copy.deepcopy(model), logits(model)
    assert passes.chunk_mlp(model) == 0
    monkeypatch.setattr(importlib.import_module("torch_ane.passes.chunk_mlp"), "CHUNK", 32)
    assert passes.chunk_mlp(whole) == 3
    chunks = whole.model.layers[0].mlp.gate_proj
    assert [chunk.out_features for chunk in chunks] == [20, 20, 20, 20]
    assert torch.allclose(logits(whole), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("family", "own"), [("mixtral", "MixtralExperts"), ("qwen3-moe", "Qwen3MoeExperts")])
def test_swap_experts_sums_all_of_them(family, own):
    model = tiny(family)
    expected, count = logits(model), sum(own == type(m).__name__ for m in model.modules())
    assert count > 0
    assert passes.swap_experts(model) == count
    assert own not in names(model)
    assert torch.allclose(logits(model), expected, rtol=1e-5, atol=1e-5)


def test_swap_experts_leaves_what_computes_something_else():
    model = tiny("mixtral")
    experts = model.model.layers[1].mlp.experts
    experts.act_fn = torch.nn.Tanh()

    class Other(type(experts)):
        def forward(self, hidden_states, top_k_index, top_k_weights):
            return super().forward(hidden_states, top_k_index, top_k_weights) + 1

    experts.__class__ = Other
    assert passes.swap_experts(model) == len(model.model.layers) - 1
    assert model.model.layers[1].mlp.experts is experts
