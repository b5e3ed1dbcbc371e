"""Passes that prepare a model for its target. One file for each; the list of a target is data.

A pass takes the model, changes it in place, and answers how many places it changed. It keeps what the model computes
(within rounding): each is tested on its own, and a build compares the whole with the model as it was.
"""

from collections.abc import Callable

import torch

from .chunk_mlp import chunk_mlp
from .fresh_rope import fresh_rope
from .swap_attention import swap_attention
from .swap_linear import swap_linear
from .swap_rmsnorm import swap_rmsnorm

PASSES_VERSION = "1"
"""Changes whenever a pass or lowering produces another program for the same model; part of every cache key."""

Pass = Callable[[torch.nn.Module], int]

_COMMON: tuple[Pass, ...] = (fresh_rope, swap_rmsnorm, swap_attention)

PASSES: dict[str, tuple[Pass, ...]] = {
    "cpu": _COMMON,
    "gpu": _COMMON,
    "ane": (*_COMMON, chunk_mlp, swap_linear),
}


def prepare(model: torch.nn.Module, target: str) -> dict[str, int]:
    """Applies the target's passes in order; answers how many places each changed."""
    if target not in PASSES:
        raise ValueError(f"no target is called '{target}': one of {', '.join(PASSES)}")
    return {step.__name__: step(model) for step in PASSES[target]}


__all__ = [
    "PASSES",
    "PASSES_VERSION",
    "Pass",
    "chunk_mlp",
    "fresh_rope",
    "prepare",
    "swap_attention",
    "swap_linear",
    "swap_rmsnorm",
]
