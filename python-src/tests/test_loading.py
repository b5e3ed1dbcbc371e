"""Models over a checkpoint's memory."""

import json

import pytest
import torch
from safetensors.torch import load_file

from models import FAMILIES, tiny
from torch_ane import host
from torch_ane.llm import UnsupportedRopeError
from torch_ane.loading import CheckpointError, load_causal_lm

NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.int64: "int64"}


class Tensors:
    """A checkpoint in this process's memory."""

    def __init__(self, tensors: dict[str, torch.Tensor]):
        self.tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}

    def names(self):
        return list(self.tensors)

    def dtype(self, name):
        return NAMES[self.tensors[name].dtype]

    def shape(self, name):
        return list(self.tensors[name].shape)

    def address(self, name):
        return self.tensors[name].data_ptr()


def saved(family: str, **overrides):
    """(model, config.json, tensors as they would be saved)."""
    model = tiny(family, **overrides)
    config = {**model.config.to_dict(), "architectures": [type(model).__name__]}
    tensors = {name: tensor.clone() for name, tensor in model.named_parameters()}
    return model, json.dumps(config, default=str), tensors


def logits(model):
    return host.eager_logits(model, [1, 5, 9])


@pytest.mark.parametrize("family", ["llama", "llama-tied-biased", "llama-rope-yarn", "qwen3", "gemma3"])
def test_a_loaded_model_computes_what_the_saved_one_did(family):
    model, config, tensors = saved(family)
    loaded = load_causal_lm(config, Tensors(tensors))
    assert torch.equal(logits(loaded), logits(model))


@pytest.mark.parametrize("family", FAMILIES)
def test_what_transformers_saves_is_loaded(family, tmp_path):
    model = tiny(family)
    model.save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    loaded = load_causal_lm((tmp_path / "config.json").read_text(), Tensors(tensors))
    assert torch.equal(logits(loaded), logits(model))


def test_an_expert_that_is_missing_or_too_many_is_named(tmp_path):
    tiny("mixtral").save_pretrained(tmp_path)
    tensors, config = load_file(tmp_path / "model.safetensors"), (tmp_path / "config.json").read_text()
    gone = next(name for name in tensors if ".1.block_sparse_moe.experts.2.w1" in name)
    fewer = {name: tensor for name, tensor in tensors.items() if name != gone}
    with pytest.raises(CheckpointError, match=r"layers.1.mlp.experts.gate_up_proj: .* lacks a tensor of expert 2 of 4"):
        load_causal_lm(config, Tensors(fewer))
    more = {**tensors, gone.replace("experts.2", "experts.4"): tensors[gone]}
    with pytest.raises(CheckpointError, match="makes 4 experts, the checkpoint has one with the number 4"):
        load_causal_lm(config, Tensors(more))


def test_fp32_tensors_are_used_where_they_lie():
    _, config, tensors = saved("llama")
    checkpoint = Tensors(tensors)
    loaded = load_causal_lm(config, checkpoint)
    assert loaded.model.norm.weight.data_ptr() == checkpoint.address("model.norm.weight")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_widened(dtype):
    model, config, tensors = saved("llama")
    half = {name: tensor.to(dtype) for name, tensor in tensors.items()}
    loaded = load_causal_lm(config, Tensors(half))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
    assert torch.equal(logits(loaded), logits(model))


def test_a_tied_head_may_be_absent_or_there():
    model, config, tensors = saved("llama-tied-biased")
    assert "lm_head.weight" not in tensors
    both = {**tensors, "lm_head.weight": tensors["model.embed_tokens.weight"].clone()}
    loaded = load_causal_lm(config, Tensors(both))
    assert loaded.lm_head.weight is loaded.model.embed_tokens.weight
    head_only = {**both}
    del head_only["model.embed_tokens.weight"]
    assert torch.equal(logits(load_causal_lm(config, Tensors(head_only))), logits(model))


def test_a_head_that_differs_from_its_embedding_is_used_as_it_is_though_the_config_ties_them():
    _, config, tensors = saved("llama-tied-biased")
    own = torch.randn_like(tensors["model.embed_tokens.weight"])
    loaded = load_causal_lm(config, Tensors({**tensors, "lm_head.weight": own}))
    assert torch.equal(loaded.lm_head.weight, own)
    assert torch.equal(loaded.model.embed_tokens.weight, tensors["model.embed_tokens.weight"])


def test_an_untied_head_that_is_absent_names_the_tensor_and_the_key():
    _, config, tensors = saved("llama")
    del tensors["lm_head.weight"]
    with pytest.raises(CheckpointError, match=r"no tensor lm_head.weight.*tie_word_embeddings = false"):
        load_causal_lm(config, Tensors(tensors))


def test_missing_unexpected_and_misshapen_tensors_are_named():
    _, config, tensors = saved("llama")
    less = {name: t for name, t in tensors.items() if name != "model.layers.1.mlp.up_proj.weight"}
    with pytest.raises(CheckpointError, match=r"lacks 1 tensors of the model: model.layers.1.mlp.up_proj.weight"):
        load_causal_lm(config, Tensors(less))
    with pytest.raises(CheckpointError, match="no place for: model.layers.9.extra"):
        load_causal_lm(config, Tensors({**tensors, "model.layers.9.extra": torch.zeros(3)}))
    with pytest.raises(CheckpointError, match=r"norm.weight has shape \[3\] in the checkpoint, config.json .* \[48\]"):
        load_causal_lm(config, Tensors({**tensors, "model.norm.weight": torch.zeros(3)}))
    with pytest.raises(CheckpointError, match=r"model.norm.weight is of type int64"):
        load_causal_lm(config, Tensors({**tensors, "model.norm.weight": torch.zeros(48, dtype=torch.int64)}))


def test_a_checkpoint_without_weights():
    _, config, _ = saved("llama")
    with pytest.raises(CheckpointError, match="has no weights"):
        load_causal_lm(config, Tensors({}))


def test_a_model_with_its_own_code_is_refused():
    config = {"model_type": "my_llama", "auto_map": {"AutoModelForCausalLM": "modeling.MyLlama"}}
    with pytest.raises(CheckpointError, match=r"no model_type 'my_llama' \(its own code.*never run\)"):
        load_causal_lm(json.dumps(config), Tensors({}))


def test_a_quantised_checkpoint_is_refused():
    _, config, _ = saved("llama")
    config = json.dumps({**json.loads(config), "quantization_config": {"quant_method": "gptq"}})
    with pytest.raises(CheckpointError, match=r"quantization_config \(gptq\)"):
        load_causal_lm(config, Tensors({}))


def test_a_configuration_that_makes_no_sense():
    _, config, _ = saved("llama")
    config = json.dumps({**json.loads(config), "hidden_size": "many"})
    with pytest.raises(CheckpointError, match="config.json makes no llama configuration: .*hidden_size"):
        load_causal_lm(config, Tensors({}))


@pytest.mark.parametrize("scaling", [{"rope_type": "mystery"}, {"type": "mystery", "factor": 2.0}])
def test_a_rope_scaling_nobody_knows_is_refused_not_ignored(scaling):
    _, config, tensors = saved("llama")
    values = {key: value for key, value in json.loads(config).items() if key != "rope_parameters"}
    with pytest.raises(UnsupportedRopeError, match="rope_type 'mystery' is not supported; supported are"):
        load_causal_lm(json.dumps({**values, "rope_scaling": scaling}), Tensors(tensors))


def test_the_old_keys_of_a_rope_scaling_are_read():
    _, config, tensors = saved("llama")
    values = {key: value for key, value in json.loads(config).items() if key != "rope_parameters"}
    scaled = {**values, "rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 5000.0}
    loaded = load_causal_lm(json.dumps(scaled), Tensors(tensors))
    assert loaded.model.rotary_emb.inv_freq[:2].tolist() == pytest.approx([0.5, 0.5 * 5000 ** (-1 / 4)])


def test_an_encoder_is_no_causal_model():
    with pytest.raises(CheckpointError, match="model_type 'clip' is no causal language model"):
        load_causal_lm(json.dumps({"model_type": "clip"}), Tensors({}))


def test_versions_name_what_shapes_an_export():
    versions = json.loads(host.versions())
    assert set(versions) == {"passes", "torch", "transformers", "python"}
