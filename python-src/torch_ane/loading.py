"""Models over a checkpoint's own memory."""

import ctypes
import json
import math
import re
import zlib
from collections.abc import Sequence

import torch

from .llm._rope import check_kinds
from .merging import Source, sources_of
from .sinks import Checkpoint

_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class CheckpointError(Exception):
    """A checkpoint that does not make a model; the message names the tensor or the configuration's key."""


def load_causal_lm(config_json: str, checkpoint: Checkpoint) -> torch.nn.Module:
    """A transformers causal model, in fp32 and ready to evaluate, with the checkpoint's tensors as its weights.

    fp32 tensors are used where they lie; half-precision ones are widened. Raises :class:`CheckpointError` for an
    architecture that transformers does not have (a model's own code is never run), for missing, unexpected or
    misshapen tensors; :class:`~torch_ane.llm.UnsupportedRopeError` for a RoPE scaling that no program can have.
    """
    model = _empty_model(json.loads(config_json))
    with torch.no_grad():
        _assign(model, checkpoint)
    return model.eval().requires_grad_(False)


TEMPLATE_SIZES = {"vocab_size": 64, "intermediate_size": 96}
"""What a template has less of, at most so many. No operation but matrix products depends on them."""


def template_causal_lm(config_json: str) -> torch.nn.Module:
    """A model of a configuration with made-up weights (:func:`template_values`) that its layers share.

    It has the widths of the real one, but for :data:`TEMPLATE_SIZES`. Its ``template_samples`` are the
    :func:`template_sample` of each weight, to tell later what passes made of it. Raises as :func:`load_causal_lm`, and
    for a model that keeps more than weights in its checkpoints.
    """
    values = json.loads(config_json)
    text = values.get("text_config", values)
    for name, most in TEMPLATE_SIZES.items():
        if isinstance(text.get(name), int):
            text[name] = min(text[name], most)
    if isinstance(text.get("pad_token_id"), int):
        text["pad_token_id"] = None
    model = _empty_model(values)
    if saved := sorted(set(_saved_buffers(model))):
        raise CheckpointError(f"the model's checkpoints have buffers ({_some(saved)}): build it as one program")
    aliases = _aliases(model)
    known: dict[tuple, torch.Tensor] = {}
    samples: dict[str, torch.Tensor] = {}
    for name, tensor in list(model.named_parameters()):
        key = (_without_numbers(name), tuple(tensor.shape))
        if key not in known:
            known[key] = template_values(name, tensor.shape)
        samples[name] = template_sample(known[key]).clone()
        shared = _put(model, name, torch.nn.Parameter(known[key], requires_grad=False))
        for alias in (alias for alias, original in aliases.items() if original == name):
            _put(model, alias, shared)
    model.template_samples = samples
    return model.eval().requires_grad_(False)


def template_sample(values: torch.Tensor) -> torch.Tensor:
    """Some thousands of a weight's values, from all over it."""
    return values.detach().reshape(-1)[:: max(1, values.numel() // 4096)]


def template_values(name: str, shape: Sequence[int]) -> torch.Tensor:
    """What a template's weight holds: the same for each layer, of ordinary size."""
    seed = zlib.crc32(f"{_without_numbers(name)} {list(shape)}".encode())
    noise = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    # In place: what is left behind lives until the next collection.
    norm = len(shape) < 2 and name.endswith("weight")
    return noise.mul_(0.1).add_(1) if norm else noise.div_(math.sqrt(shape[-1]))


def _without_numbers(name: str) -> str:
    return re.sub(r"\.\d+(?=\.)", "", name)


def _empty_model(values: dict) -> torch.nn.Module:
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.initialization import no_init_weights
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = values.get("model_type")
    if kind not in CONFIG_MAPPING:
        own = " (its own code, named by auto_map, is never run)" if values.get("auto_map") else ""
        raise CheckpointError(f"transformers has no model_type '{kind}'{own}: config.json cannot be used")
    if values.get("quantization_config"):
        method = values["quantization_config"].get("quant_method")
        raise CheckpointError(f"config.json has a quantization_config ({method}): only unquantised tensors can be read")
    try:
        config = AutoConfig.for_model(**{key: value for key, value in values.items() if key != "auto_map"})
    except Exception as error:
        raise CheckpointError(f"config.json makes no {kind} configuration: {error}") from error
    check_kinds(config.get_text_config())
    try:
        with no_init_weights():
            model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager")
    except ValueError as error:
        raise CheckpointError(f"model_type '{kind}' is no causal language model: {error}") from error
    model.tie_weights()  # as the configuration says; making a model without initial weights skips it
    return model


def _assign(model: torch.nn.Module, checkpoint: Checkpoint) -> None:
    wanted = {**dict(model.named_parameters()), **_saved_buffers(model)}
    aliases = _aliases(model)
    given = [str(name) for name in checkpoint.names()]
    if not given:
        raise CheckpointError("the checkpoint has no weights")
    sources = sources_of(model, {*wanted, *aliases}, given)
    unexpected = [name for name in sources if name not in wanted and name not in aliases]
    unexpected = [name for name in unexpected if not name.endswith(".rotary_emb.inv_freq")]  # old checkpoints save it
    if unexpected:
        raise CheckpointError(f"the checkpoint has tensors the model has no place for: {_some(unexpected)}")
    present = set(sources)
    for name, tensor in wanted.items():
        names = [name, *(alias for alias, original in aliases.items() if original == name)]
        source = next((each for each in names if each in present), None)
        if source is None:
            raise CheckpointError(_missing(model, name, [each for each in wanted if each not in present]))
        shared = _put(model, name, _weight(checkpoint, source, sources[source], list(tensor.shape)))
        for alias in names[1:]:
            own = _weight(checkpoint, alias, sources[alias], list(tensor.shape)) if alias in present else shared
            _put(model, alias, shared if torch.equal(own, shared) else own)  # transformers: different is not tied


def _saved_buffers(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    saved = model.state_dict(keep_vars=True)
    return {name: buffer for name, buffer in model.named_buffers() if name in saved}


def _aliases(model: torch.nn.Module) -> dict[str, str]:
    """Other names of tied weights, each with the name it is the same as."""
    first: dict[int, str] = {}
    aliases: dict[str, str] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if id(parameter) in first:
            aliases[name] = first[id(parameter)]
        else:
            first[id(parameter)] = name
    return aliases


def _missing(model: torch.nn.Module, name: str, missing: list[str]) -> str:
    if name == _head_name(model):
        return (
            f"the checkpoint has no tensor {name}, and config.json says tie_word_embeddings = false: "
            "set it to true if the head shares the embedding, or complete the checkpoint"
        )
    return f"the checkpoint lacks {len(missing)} tensors of the model: {_some(missing)}"


def _head_name(model: torch.nn.Module) -> str | None:
    head = model.get_output_embeddings()
    return next((f"{name}.weight" for name, module in model.named_modules() if module is head), None)


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _weight(checkpoint: Checkpoint, name: str, source: Source, shape: list[int]) -> torch.Tensor:
    """A weight of the model: a tensor where it lies, or the experts' tensors in one of this shape."""
    if source.whole is not None:
        return _tensor(checkpoint, source.whole, shape)
    count, rows, width = shape[0], shape[1] // source.width, source.width
    if extra := sorted(expert for expert, _ in source.parts if expert >= count):
        raise CheckpointError(
            f"{name}: config.json makes {count} experts, the checkpoint has one with the number {extra[0]}"
        )
    try:
        experts = source.experts(count, width)
    except KeyError as missing:
        expert, _ = missing.args[0]
        raise CheckpointError(f"{name}: the checkpoint lacks a tensor of expert {expert} of {count}") from missing
    whole = torch.empty(shape)
    for expert, names in enumerate(experts):
        for part, own in enumerate(names):
            whole[expert, part * rows : (part + 1) * rows] = _tensor(checkpoint, own, [rows, *shape[2:]])
    return whole


def _tensor(checkpoint: Checkpoint, name: str, shape: list[int]) -> torch.Tensor:
    """A tensor over the checkpoint's memory, widened to fp32 if it is narrower; must have this shape."""
    found = [int(size) for size in checkpoint.shape(name)]
    if found != shape:
        raise CheckpointError(f"tensor {name} has shape {found} in the checkpoint, config.json makes it {shape}")
    dtype = str(checkpoint.dtype(name))
    if dtype not in _DTYPES:
        raise CheckpointError(f"tensor {name} is of type {dtype}; supported are {', '.join(_DTYPES)}")
    count = 1
    for size in shape:
        count *= size
    size = count * _DTYPES[dtype].itemsize
    memory = memoryview((ctypes.c_uint8 * size).from_address(int(checkpoint.address(name))))
    return torch.frombuffer(memory, dtype=_DTYPES[dtype]).reshape(shape).float()


def _put(model: torch.nn.Module, name: str, tensor: torch.Tensor) -> torch.Tensor:
    path, _, last = name.rpartition(".")
    module = model.get_submodule(path)
    if last in module._parameters:
        if not isinstance(tensor, torch.nn.Parameter):
            tensor = torch.nn.Parameter(tensor, requires_grad=False)
        module._parameters[last] = tensor
    else:
        module._buffers[last] = tensor
    return tensor
