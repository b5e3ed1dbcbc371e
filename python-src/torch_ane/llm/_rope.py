"""RoPE outside the program: its frequencies for whoever computes the rows, its rows as inputs."""

from dataclasses import dataclass

import torch

KINDS = ("default", "linear", "llama3", "yarn", "dynamic", "longrope")
"""Scalings that are known. The frequencies of the last two change when the text grows beyond a length, and with them
what earlier keys mean; up to that length they are fixed, and longer contexts are refused."""


@dataclass(frozen=True)
class Rope:
    """Frequencies as transformers computes them: ``cos(position · frequency) · scaling``, both halves alike."""

    frequencies: torch.Tensor  # fp32 [dim / 2]
    scaling: float

    @property
    def dim(self) -> int:
        return 2 * self.frequencies.numel()

    def rows(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin [1, rows, dim] of positions [rows]."""
        angles = positions[None, :, None].float() * self.frequencies
        both = torch.cat((angles, angles), dim=-1)
        return both.cos() * self.scaling, both.sin() * self.scaling

    def same(self, other: "Rope") -> bool:
        return self.scaling == other.scaling and torch.equal(self.frequencies, other.frequencies)


class UnsupportedRopeError(Exception):
    """A model's rotary embedding cannot be computed outside the program."""


def check_kinds(config) -> None:
    """Refuses, by name, scalings nobody knows."""
    for kind, _ in _scalings(config):
        if kind not in KINDS:
            raise UnsupportedRopeError(f"rope_type '{kind}' is not supported; supported are {', '.join(KINDS)}")


def check_lengths(config, context: int) -> None:
    """Refuses, by name, scalings whose frequencies would change within ``context`` tokens."""
    for kind, each in _scalings(config):
        limit = _fixed_up_to(kind, each, config)
        if context > limit:
            raise UnsupportedRopeError(
                f"the frequencies of rope_type '{kind}' change beyond {limit} tokens, which is not supported, and "
                f"maxLen is {context}: choose a maxLen of {limit} or less"
            )


def _scalings(config) -> list[tuple[str, dict]]:
    """Kinds and parameters, of all layers or of each type of layer."""
    parameters = getattr(config, "rope_parameters", None) or {}
    every = [parameters, *(value for value in parameters.values() if isinstance(value, dict))]
    return [(each.get("rope_type") or "default", each) for each in every]


def _fixed_up_to(kind: str, parameters: dict, config) -> int:
    """Tokens up to which the frequencies stay as they are."""
    limit = config.max_position_embeddings
    return parameters.get("original_max_position_embeddings", limit) if kind == "longrope" else limit


def ropes_of(rotary: torch.nn.Module, context: int) -> dict[str | None, Rope]:
    """The frequencies of a model's ``rotary_emb``, by layer type, or under None when it has one kind for all.

    Each is checked against the module's own rows, so another formula does not pass unnoticed.
    """
    types = [name for name in getattr(rotary, "layer_types", None) or () if hasattr(rotary, f"{name}_inv_freq")]
    found: dict[str | None, Rope] = {}
    for kind in types or [None]:
        prefix = f"{kind}_" if kind else ""
        frequencies = getattr(rotary, f"{prefix}inv_freq", None)
        if frequencies is None:
            raise UnsupportedRopeError(f"{type(rotary).__name__} has no inv_freq")
        scaling = getattr(rotary, f"{prefix}attention_scaling", 1.0)
        rope = Rope(frequencies.detach().float().clone(), float(scaling))
        _verify(rotary, kind, rope, context)
        found[kind] = rope
    return found


@torch.no_grad()
def _verify(rotary: torch.nn.Module, kind: str | None, rope: Rope, context: int) -> None:
    positions = torch.tensor([position for position in (0, 1, 2, 5, 100, 1023) if position < context])
    arguments = (torch.zeros(1), positions[None]) + ((kind,) if kind else ())
    rows = rotary(*arguments)
    if not isinstance(rows, tuple) or len(rows) != 2:
        raise UnsupportedRopeError(f"{type(rotary).__name__} answers {type(rows).__name__}, not cos and sin")
    for theirs, ours in zip(rows, rope.rows(positions), strict=True):
        if theirs.shape != ours.shape or not torch.allclose(theirs, ours, rtol=0, atol=1e-6):
            raise UnsupportedRopeError(
                f"{type(rotary).__name__} computes other rows than cos(position · inv_freq) with both halves alike"
            )


class GivenRotary(torch.nn.Module):
    """Takes the place of ``rotary_emb``: answers the rows the program was given."""

    def __init__(self, given, local_types: frozenset[str]):
        super().__init__()
        self._given, self._local_types = given, local_types

    def forward(self, x, position_ids=None, layer_type=None, **_):
        return self._given.rope(layer_type in self._local_types)


def apply_rope(q, k, cos, sin, unsqueeze_dim=1):
    """``apply_rotary_pos_emb`` of transformers, each rotation as one operation."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return torch.ops.torch_ane.rope(q, cos, sin), torch.ops.torch_ane.rope(k, cos, sin)


def one_operation(original, rope: Rope):
    """A stand-in for a model's ``apply_rotary_pos_emb``: :func:`apply_rope` where the two compute the same, which is
    tried first; otherwise the function itself."""
    if not _same(original, rope):
        return original

    def apply(q, k, cos, sin, *args, **kwargs):
        whole = q.shape[-1] == cos.shape[-1] == k.shape[-1] and not args and set(kwargs) <= {"unsqueeze_dim"}
        return (apply_rope if whole else original)(q, k, cos, sin, *args, **kwargs)

    return apply


@torch.no_grad()
def _same(original, rope: Rope) -> bool:
    cos, sin = rope.rows(torch.arange(3, 6))
    q = torch.linspace(-2, 2, 6 * rope.dim).sin().reshape(1, 2, 3, rope.dim)
    k = torch.linspace(-1, 3, 3 * rope.dim).cos().reshape(1, 1, 3, rope.dim)
    try:
        theirs, ours = original(q, k, cos, sin), apply_rope(q, k, cos, sin)
    except Exception:
        return False
    return all(torch.allclose(a, b, rtol=1e-6, atol=1e-6) for a, b in zip(theirs, ours, strict=True))
