"""Where a transformers model keeps its parts, and which of its layers are alike."""

import inspect
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache

from ._kv import KvState, cache_of


class UnsupportedModelError(Exception):
    """A model that cannot be made into prefill and decode functions; the message says why."""


@dataclass(frozen=True)
class Structure:
    """The parts of a causal model, by the names they have in it."""

    layers: str
    embedding: str
    head: str
    rotary: str


def structure_of(model: torch.nn.Module) -> Structure:
    """Finds the parts, or says which is missing."""
    kind = type(model).__name__
    count = model.config.get_text_config().num_hidden_layers
    names = {id(module): name for name, module in model.named_modules()}
    lists = [
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == count and name.rsplit(".", 1)[-1] in _LAYERS
    ]
    if len(lists) != 1:
        raise UnsupportedModelError(f"{kind} has no single list of {count} decoder layers; lists that fit: {lists}")
    head = model.get_output_embeddings()
    if type(head) is not torch.nn.Linear:
        raise UnsupportedModelError(f"{kind} has {type(head).__name__} as its head; a Linear is needed")
    rotary = [name for name, _ in model.named_modules() if name.rsplit(".", 1)[-1] == "rotary_emb"]
    if len(rotary) != 1:
        raise UnsupportedModelError(
            f"{kind} has {len(rotary)} rotary embeddings ('rotary_emb'); models with one for all layers are supported"
        )
    return Structure(lists[0], names[id(model.get_input_embeddings())], names[id(head)], rotary[0])


_LAYERS = ("layers", "h", "blocks")


def replace_module(model: torch.nn.Module, name: str, module: torch.nn.Module) -> None:
    """Puts a module where ``name`` is."""
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, module)


@dataclass(frozen=True)
class LayerCall:
    """How a model calls a decoder layer: the arguments that are not its tensors."""

    cache: str | None
    plain: dict[str, Any]


class LayerMark(torch.nn.Module):
    """Stands where a decoder layer was: leaves a ``torch_ane::layer`` in the trace and notes how it was called.

    The layer's attributes can still be read; its parameters are not this module's.
    """

    def __init__(self, layer: torch.nn.Module, index: int, answers_tuple: bool):
        super().__init__()
        self.__dict__["_layer"] = layer
        self.index, self.answers_tuple = index, answers_tuple
        self.call: LayerCall | None = None

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["_layer"], name)

    def forward(self, hidden_states, *args, **kwargs):
        names = list(inspect.signature(self._layer.forward).parameters)[1 : 1 + len(args)]
        kwargs = {**dict(zip(names, args, strict=True)), **kwargs}
        mask = kwargs.pop("attention_mask", None)
        cos, sin = kwargs.pop("position_embeddings", None) or (None, None)
        cache, plain = None, {}
        for name, value in kwargs.items():
            if isinstance(value, Cache):
                cache = name
            elif isinstance(value, torch.Tensor):
                if name not in ("position_ids", "cache_position"):
                    raise UnsupportedModelError(
                        f"layer {self.index} is given the tensor '{name}', which is not supported"
                    )
            else:
                plain[name] = value
        self.call = LayerCall(cache, plain)
        hidden = torch.ops.torch_ane.layer(hidden_states, cos, sin, mask, self.index)
        return (hidden,) if self.answers_tuple else hidden


class LayerStep(torch.nn.Module):
    """One decoder layer over states of one row.

    (hidden, cos, sin, mask, keys, values, step) to (hidden, keys, values).
    """

    def __init__(self, layer: torch.nn.Module, call: LayerCall, layers: int):
        super().__init__()
        self.layer, self.call, self.layers = layer, call, layers

    def forward(self, hidden, cos, sin, mask, keys, values, step):
        state = KvState(keys, values, step)
        kwargs = dict(self.call.plain)
        if self.call.cache:
            kwargs[self.call.cache] = cache_of(state, self.layers, row=0)
        result = self.layer(hidden, attention_mask=mask, position_embeddings=(cos, sin), **kwargs)
        if state.writes != 1:
            raise UnsupportedModelError(
                f"a {type(self.layer).__name__} writes its keys and values {state.writes} times; once is needed"
            )
        return (result[0] if isinstance(result, tuple) else result), state.keys, state.values


_INDEX = ("layer_idx", "layer_index", "layer_id", "block_idx", "index")


def signature(layer: torch.nn.Module) -> tuple:
    """What two layers must have in common to share one trace: classes, plain attributes but for the layer's index,
    names and shapes of weights."""
    found = []
    for path, module in layer.named_modules():
        attributes = tuple(
            sorted(
                (name, repr(value)) for name, value in vars(module).items() if name not in _INDEX and _is_plain(value)
            )
        )
        tensors = tuple((name, tuple(t.shape)) for name, t in _own_tensors(module) if t is not None)
        found.append((path, type(module), attributes, tensors))
    return tuple(found)


def _own_tensors(module: torch.nn.Module):
    yield from module._parameters.items()
    yield from module._buffers.items()


def _is_plain(value) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str, torch.dtype))
