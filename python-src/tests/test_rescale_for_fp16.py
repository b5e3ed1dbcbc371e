"""Scales for fp16: what they are chosen from, that nothing else changes, and that values then fit."""

import copy

import pytest
import torch

from conftest import export
from models import tiny
from torch_ane import passes
from torch_ane.passes.rescale_for_fp16 import LARGEST, rescaled

LAYERS = "model.layers"
IDS = torch.tensor([[3, 50, 7, 96, 12, 12, 0, 41]])


def massive(family: str) -> torch.nn.Module:
    """A model with values beyond fp16 within an MLP and an attention, and in the stream."""
    model = tiny(family)
    model.model.layers[0].self_attn.v_proj.weight *= 2e3
    mlp = model.model.layers[1].mlp
    mlp.up_proj.weight[5] *= 3e6
    mlp.down_proj.weight[:, 5] *= 1e-6
    model.model.layers[2].mlp.down_proj.weight[7] *= 3e4
    return model


@torch.no_grad()
def logits(model, factor=1.0):
    return model(inputs_embeds=model.get_input_embeddings()(IDS) * factor, use_cache=False).logits


def largest(model) -> float:
    return passes.calibrate_rescale(model, LAYERS, IDS).largest


@pytest.mark.parametrize("family", ["llama", "llama-tied-biased", "qwen3", "gemma3"])
def test_an_ordinary_model_needs_none(family):
    model = tiny(family)
    before = dict(model.named_parameters())
    scales, count = rescaled(model, LAYERS, IDS)
    assert (scales.stream, set(scales.mlp), set(scales.attention), count) == (0, {0}, {0}, 0)
    assert all(before[name] is tensor for name, tensor in model.named_parameters())


@pytest.mark.parametrize("family", ["llama", "llama-tied-biased", "qwen3", "granite"])
def test_values_beyond_fp16_come_back_within_it(family):
    model = massive(family)
    expected, original = logits(model), copy.deepcopy(model)
    assert largest(model) > 65504
    scales, count = rescaled(model, LAYERS, IDS)
    assert scales.stream < 0 and scales.mlp[1] < 0 and scales.attention[0] < 0 and count
    assert scales.largest == largest(original), "the largest value is the one before"
    found = logits(model, scales.embedding)
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-5)
    with torch.no_grad():
        seen = []
        hooks = [
            module.register_forward_hook(lambda _m, _a, out: seen.append(float(out.abs().max())))
            for module in model.modules()
            if type(module) is torch.nn.Linear and module is not model.lm_head
        ]
        logits(model, scales.embedding)
        for hook in hooks:
            hook.remove()
    assert max(seen) <= LARGEST


def test_factors_are_powers_of_two_so_that_no_digit_is_lost():
    model = massive("llama")
    before = {name: tensor.clone() for name, tensor in model.named_parameters()}
    rescaled(model, LAYERS, IDS)
    for name, tensor in model.named_parameters():
        ratio = (tensor / before[name]).flatten()[0]
        assert torch.equal(tensor, before[name] * ratio) and torch.frexp(ratio).mantissa == 0.5, name


def test_the_checkpoints_own_memory_is_not_written_to():
    model = massive("llama")
    before = {name: (tensor, tensor.clone()) for name, tensor in model.named_parameters()}
    rescaled(model, LAYERS, IDS)
    assert all(torch.equal(tensor, copied) for tensor, copied in before.values())


def test_small_values_are_lifted_out_of_the_subnormals():
    model = tiny("llama")
    model.model.layers[2].mlp.up_proj.weight *= 1e-3
    model.model.layers[0].self_attn.v_proj.weight *= 1e-4
    expected = logits(model)
    scales, _ = rescaled(model, LAYERS, IDS)
    assert 0 < scales.mlp[2] <= 8 and scales.attention[0] == 8
    assert torch.allclose(logits(model), expected, rtol=1e-5, atol=1e-5)


def test_a_stream_through_norms_that_write_is_scaled_in_their_weights():
    model = tiny("gemma3")
    model.model.layers[1].post_feedforward_layernorm.weight[3] = 1e5
    expected = logits(model)
    scales, _ = rescaled(model, LAYERS, IDS)
    assert scales.stream < 0
    assert torch.allclose(logits(model, scales.embedding), expected, rtol=1e-4, atol=1e-4)


def test_a_stream_that_layers_read_without_a_norm_is_kept_and_the_report_says_so():
    model = tiny("olmo2")
    model.model.layers[1].post_feedforward_layernorm.weight[3] = 1e5
    scales, _ = rescaled(model, LAYERS, IDS)
    assert scales.stream == 0 and "norms alone" in scales.stream_kept


def test_an_export_for_the_neural_engine_has_scales_and_tells_them():
    _, manifest = export(massive("llama"), target="ane", precision="fp16", calibration=IDS[0].tolist())
    scales = manifest["report"]["scales"]
    assert scales["calibration"] == "text" and scales["tokens"] == IDS.shape[1]
    assert scales["stream"] < 0 and scales["largest"] > 65504
    assert manifest["embedding"]["multiplier"] == 2.0 ** scales["stream"]


def test_without_a_text_fixed_ids_calibrate_and_the_report_says_so():
    _, manifest = export(tiny("llama"), target="gpu", precision="fp16")
    assert manifest["report"]["scales"]["calibration"] == "fixed ids"
    assert export(tiny("llama"), target="cpu", precision="fp16")[1]["report"]["scales"] is None


def test_an_fp16_program_has_no_infinity_and_fp32_only_inside_norms():
    program, _ = export(massive("llama"), target="ane", precision="fp16")
    for function in program.functions.values():
        for constant in function.constants.values():
            numbers = constant if isinstance(constant, list) else [constant]
            assert all(abs(n) < 65504 for n in numbers if isinstance(n, float)), constant
        for op in function.operations:
            to_fp32 = op.kind == "cast" and op.operands["dtype"] == "fp32"
            assert not to_fp32 or (op.composite or "").startswith("rms_norm#"), op
