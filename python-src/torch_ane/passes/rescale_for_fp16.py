"""Activations within fp16: factors of two between the linear layers that make a value and those that read it.

fp16 ends at 65504, products of matrices on the Neural Engine at 32752, and below 6e-5 digits get lost. A power of two
costs no digit, so a value may be kept at another scale wherever everything between its maker and its reader is linear:
``up_proj`` to ``down_proj``, ``v_proj`` to ``o_proj``, and the residual stream, whose readers are norms that take any
scale once their epsilon has it too.
"""

import copy
import math
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from .swap_rmsnorm import _EPSILONS, _offset

LARGEST = 2048.0
"""Most that a value may reach in calibration: a factor of 16 below 32752, for what calibration does not see."""
SMALLEST = 1.0
"""Least that the largest value of a place should be: smaller ones are 14 powers of two above fp16's normal end."""
MOST_UP = 8
LARGEST_WEIGHT = 2.0**14


@dataclass(frozen=True)
class Scales:
    """Exponents of two: of the stream, and for each layer of ``up_proj``'s and ``v_proj``'s results.

    ``largest`` is the largest magnitude that calibration saw anywhere. ``stream`` is 0, and ``stream_kept`` says why,
    for a model whose residual stream is not read through norms alone.
    """

    stream: int
    mlp: tuple[int, ...]
    attention: tuple[int, ...]
    largest: float
    stream_kept: str = ""

    @property
    def embedding(self) -> float:
        """The factor on the embeddings."""
        return 2.0**self.stream


@torch.no_grad()
def calibrate_rescale(model: torch.nn.Module, layers: str, ids: torch.Tensor) -> Scales:
    """Chooses scales from what a model computes on ``ids`` [1, tokens]; ``layers`` names its list of decoder layers."""
    with _watched(model.get_submodule(layers)) as seen:
        model(input_ids=ids, use_cache=False)
    decoder = list(enumerate(model.get_submodule(layers)))
    kept = "" if _stream(model, layers) is not None else "the residual stream is not read through norms alone"
    stream = 0 if kept else min(0, _exponent(max(seen.get((index, "stream"), 0.0) for index, _ in decoder)))
    mlp = [_pair_exponent(seen.get((index, "mlp"), 0.0), _mlp(layer), stream) for index, layer in decoder]
    attention = [_pair_exponent(seen.get((i, "attention"), 0.0), _attention(layer), stream) for i, layer in decoder]
    return Scales(stream, tuple(mlp), tuple(attention), max(seen.values(), default=0.0), kept)


@torch.no_grad()
def rescale_for_fp16(model: torch.nn.Module, layers: str, scales: Scales) -> int:
    """Applies scales; the caller multiplies the embeddings by ``scales.embedding``.

    Given:  ``down(act(gate(x)) · up(x))``, ``o(attend(q, k, v(x)))``, ``x + …`` read by norms.
    Result: ``up`` and ``v`` times 2^k, ``down`` and ``o`` times 2^(stream − k), norms with epsilon · 4^stream.

    Weights are replaced, never written to: they are the checkpoint's own memory.
    """
    count = 0
    for index, layer in enumerate(model.get_submodule(layers)):
        for pair, exponent in ((_mlp(layer), scales.mlp[index]), (_attention(layer), scales.attention[index])):
            if pair is not None and exponent:
                _scale(pair[0], exponent)
                _scale(pair[1], -exponent, bias=False)
                count += 1
    if scales.stream:
        writers, readers = _stream(model, layers)
        for writer in writers:
            _scale(writer, scales.stream)
        for norm in readers:
            name = _epsilon_name(norm)
            setattr(norm, name, getattr(norm, name) * 4.0**scales.stream)
        count += len(writers)
    return count


@torch.no_grad()
def rescaled(model: torch.nn.Module, layers: str, ids: torch.Tensor) -> tuple[Scales, int]:
    """Calibrates and applies, first to a copy: a model that would compute something else is left as it is."""
    scales = calibrate_rescale(model, layers, ids)
    embedded = model.get_input_embeddings()(ids)
    expected = model(inputs_embeds=embedded, use_cache=False).logits
    memo = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    trial = copy.deepcopy(model, memo)
    rescale_for_fp16(trial, layers, scales)
    found = trial(inputs_embeds=embedded * scales.embedding, use_cache=False).logits
    if not torch.allclose(found, expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max() + 1)):
        none = (0,) * len(scales.mlp)
        kept = "the model computes something else with other scales"
        return Scales(0, none, none, scales.largest, kept), 0
    return scales, rescale_for_fp16(model, layers, scales)


def _exponent(largest: float) -> int:
    if not 0 < largest < math.inf:
        return 0
    if largest > LARGEST:
        return math.floor(math.log2(LARGEST / largest))
    if largest < SMALLEST:
        return min(MOST_UP, math.ceil(math.log2(SMALLEST / largest)))
    return 0


def _pair_exponent(largest: float, pair, stream: int) -> int:
    """As much as the reader's weights can take back: they must be fp16 too."""
    exponent = _exponent(largest)
    if pair is None or exponent >= 0:
        return exponent
    room = LARGEST_WEIGHT / max(float(pair[1].weight.abs().max()) * 2.0**stream, 1e-30)
    return max(exponent, -max(0, math.floor(math.log2(room))))


def _linears(owner, *names: str):
    found = [getattr(owner, name, None) for name in names]
    return found if all(type(each) is torch.nn.Linear for each in found) else None


def _mlp(layer):
    """(up_proj, down_proj) of a gated MLP."""
    found = _linears(getattr(layer, "mlp", None), "up_proj", "down_proj", "gate_proj")
    return found and (found[0], found[1])


def _attention(layer):
    """(v_proj, o_proj)"""
    found = _linears(getattr(layer, "self_attn", None), "v_proj", "o_proj")
    return found and (found[0], found[1])


_NORMS = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")


def _stream(model: torch.nn.Module, layers: str):
    """(modules that write to the residual stream, norms that read it), or nothing for a model of another build."""
    writers, readers = [], []
    for layer in model.get_submodule(layers):
        mlp, attention = _mlp(layer), _attention(layer)
        norms = [getattr(layer, name, None) for name in _NORMS]
        if mlp is None or attention is None or norms[0] is None or norms[1] is None:
            return None
        if norms[2] is None and norms[3] is None:
            writers += [attention[1], mlp[1]]
            readers += [norms[0], norms[1]]
        elif norms[2] is not None and norms[3] is not None:
            writers += [norms[1], norms[3]]
            readers += [norms[0], norms[2]]
        else:
            return None
    readers.append(getattr(model.get_submodule(layers.rpartition(".")[0]), "norm", None))
    fit = all(norm is not None and _epsilon_name(norm) is not None for norm in readers)
    return (writers, readers) if fit else None


def _epsilon_name(norm: torch.nn.Module) -> str | None:
    return next((name for name in _EPSILONS if isinstance(getattr(norm, name, None), float)), None)


def _scale(module: torch.nn.Module, exponent: int, bias: bool = True) -> None:
    factor = 2.0**exponent
    if type(module) is torch.nn.Linear:
        module.weight = _parameter(module.weight * factor)
        if bias and module.bias is not None:
            module.bias = _parameter(module.bias * factor)
        return
    offset = _offset(module, getattr(module, _epsilon_name(module))) or 0.0  # 1 where the norm multiplies by 1 + weight
    module.weight = _parameter((module.weight + offset) * factor - offset)


def _parameter(tensor: torch.Tensor) -> torch.nn.Parameter:
    return torch.nn.Parameter(tensor, requires_grad=False)


@contextmanager
def _watched(layers):
    """The largest magnitudes while this lasts, by (layer, place)."""
    seen: dict[tuple[int, str], float] = {}
    hooks = []

    def note(key, tensor):
        tensor = tensor[0] if isinstance(tensor, tuple) else tensor
        seen[key] = max(seen.get(key, 0.0), float(tensor.abs().max()))

    def watch(module, key, inputs=False):
        def hook(_module, given, result):
            if given or not inputs:
                note(key, given if inputs else result)

        hooks.append(module.register_forward_hook(hook))

    for index, layer in enumerate(layers):
        watch(layer, (index, "stream"))
        watch(layer, (index, "stream"), inputs=True)
        for pair, kind in ((_mlp(layer), "mlp"), (_attention(layer), "attention")):
            if pair is not None:
                watch(pair[0], (index, kind))
                watch(pair[1], (index, kind), inputs=True)
                watch(pair[1], (index, "stream"))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()
