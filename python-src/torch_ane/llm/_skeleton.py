"""A model without its layers: what it does before, between and after them, in its own code."""

import contextlib
import inspect
import sys
from dataclasses import dataclass, field

import torch

from ._kv import KvState, cache_of
from ._rope import GivenRotary, Rope, one_operation
from ._structure import LayerMark, Structure, UnsupportedModelError, replace_module

INPUTS = ("emb", "positions", "cos", "sin", "cos_local", "sin_local", "mask", "mask_local", "pick")
"""What a skeleton is traced with; ``positions`` must stay unread."""


@dataclass
class Given:
    """The tensors of the call in progress, for the parts of a model that would otherwise compute their own."""

    tensors: dict[str, torch.Tensor] = field(default_factory=dict)

    def rope(self, local: bool):
        suffix = "_local" if local else ""
        return self.tensors["cos" + suffix], self.tensors["sin" + suffix]


class PickedHead(torch.nn.Module):
    """The head on the one row that the one-hot ``pick`` wants: [1, rows, hidden] to [1, 1, vocab].

    A ``pick`` with a row for each row wants all of them, and is not read: to [1, rows, vocab].
    """

    def __init__(self, head: torch.nn.Linear, given: Given):
        super().__init__()
        self.weight, self.bias, self._given = head.weight, head.bias, given

    def forward(self, hidden):
        pick = self._given.tensors["pick"]
        wanted = hidden if pick.shape[0] > 1 else (hidden * pick.unsqueeze(-1)).sum(1, keepdim=True)
        return torch.nn.functional.linear(wanted, self.weight, self.bias)


class Skeleton(torch.nn.Module):
    """A causal model whose layers are marks, whose RoPE and masks are given, and whose head sees the wanted rows.

    ``forward`` takes :data:`INPUTS` in order and answers logits [1, vocab], or [rows, vocab] where ``pick`` wants every
    row: whatever the model itself does to embeddings and logits (multipliers, caps) is in between. The model is changed
    in place, and must be called within :func:`own_calls`.
    """

    def __init__(self, model: torch.nn.Module, structure: Structure, ropes: "Ropes", answers_tuple: bool):
        super().__init__()
        self.lm, self.given, self.ropes = model, Given(), ropes
        self.layers = list(model.get_submodule(structure.layers))
        marks = [LayerMark(layer, index, answers_tuple) for index, layer in enumerate(self.layers)]
        replace_module(model, structure.layers, torch.nn.ModuleList(marks))
        replace_module(model, structure.rotary, GivenRotary(self.given, ropes.local_types))
        replace_module(model, structure.head, PickedHead(model.get_submodule(structure.head), self.given))
        self.__dict__["marks"] = marks

    def forward(self, *tensors):
        self.given.tensors = dict(zip(INPUTS, tensors, strict=True))
        emb = self.given.tensors["emb"]
        nothing = torch.empty(1, 1, 1, 1, 1)
        cache = cache_of(KvState(nothing, nothing, None), len(self.layers))
        positions = self.given.tensors["positions"]
        out = self.lm(inputs_embeds=emb, position_ids=positions, use_cache=True, **{_cache_name(self.lm): cache})
        return self.rows(out.logits)

    @staticmethod
    def rows(logits: torch.Tensor) -> torch.Tensor:
        """[1, rows, vocab] as [rows, vocab]."""
        return logits.reshape(logits.shape[1], -1)


def _cache_name(model: torch.nn.Module) -> str:
    """What transformers calls the cache: ``cache`` since 5.20 or so, ``past_key_values`` before."""
    names = inspect.signature(model.forward).parameters
    return "cache" if "cache" in names else "past_key_values"


@dataclass(frozen=True)
class Ropes:
    """The model's frequencies: ``local`` is there when its sliding layers have others."""

    all: Rope
    local: Rope | None
    local_types: frozenset[str]


def ropes(by_type: dict[str | None, Rope]) -> Ropes:
    """Sorts frequencies by layer type into the two kinds a program has inputs for."""
    general = by_type.get(None) or by_type.get("full_attention") or next(iter(by_type.values()))
    others = {kind: rope for kind, rope in by_type.items() if not rope.same(general)}
    if not others:
        return Ropes(general, None, frozenset())
    if set(others) != {"sliding_attention"}:
        raise UnsupportedModelError(
            f"layer types {sorted(map(str, by_type))} have RoPE frequencies of more than two kinds"
        )
    return Ropes(general, others["sliding_attention"], frozenset(others))


@contextlib.contextmanager
def own_calls(model: torch.nn.Module, given: Given | None, rope: Rope):
    """While this lasts, the functions that a model's code calls for RoPE and masks are ours.

    To be entered before tracing starts: rotations are tried out first.
    """
    names = {type(module).__module__ for module in model.modules()}
    modules = [sys.modules[name] for name in sorted(names) if name.startswith("transformers.models.")]
    saved = []
    try:
        for module in modules:
            for name, function in _replacements(module, given, rope).items():
                saved.append((module, name, getattr(module, name)))
                setattr(module, name, function)
        yield
    finally:
        for module, name, function in reversed(saved):
            setattr(module, name, function)


def _replacements(module, given: Given | None, rope: Rope) -> dict:
    found = {}
    if hasattr(module, "apply_rotary_pos_emb"):
        found["apply_rotary_pos_emb"] = one_operation(module.apply_rotary_pos_emb, rope)
    if given is None:
        return found
    for name in dir(module):
        if name.startswith("create_") and name.endswith(("_mask", "_masks_for_generate")):
            found[name] = _mask(name, given)
    return found


def _mask(name: str, given: Given):
    def create(*args, **kwargs):
        if kwargs.get("or_mask_function") is not None or kwargs.get("and_mask_function") is not None:
            raise UnsupportedModelError(
                f"the model changes its mask ({name} with a mask function), which is not supported"
            )
        if name == "create_causal_mask":
            return given.tensors["mask"]
        if name == "create_sliding_window_causal_mask":
            return given.tensors["mask_local"]
        raise UnsupportedModelError(f"the model asks for a mask with {name}, which is not supported")

    return create
