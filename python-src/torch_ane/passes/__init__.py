"""Passes that prepare a model for its target. One file for each; the list of a target is data.

A pass takes the model, changes it in place, and answers how many places it changed. It keeps what the model computes
(within rounding): each is tested on its own, and a build compares the whole with the model as it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from .chunk_mlp import chunk_mlp
from .fresh_rope import fresh_rope
from .rescale_for_fp16 import Scales, calibrate_rescale, rescale_for_fp16, rescaled
from .swap_attention import swap_attention
from .swap_experts import swap_experts
from .swap_linear import swap_linear
from .swap_rmsnorm import swap_rmsnorm

PASSES_VERSION = "3"
"""Changes whenever a pass or lowering produces another program for the same model; part of every cache key."""

Pass = Callable[[torch.nn.Module], int]

_COMMON: tuple[Pass, ...] = (swap_rmsnorm, swap_attention, swap_experts)
_ANE: tuple[Pass, ...] = (*_COMMON, chunk_mlp, swap_linear)

PASSES: dict[tuple[str, str], tuple[Pass, ...]] = {
    ("cpu", "fp32"): (fresh_rope, *_COMMON),
    ("cpu", "fp16"): (fresh_rope, *_COMMON),
    ("gpu", "fp32"): (fresh_rope, *_COMMON),
    ("gpu", "fp16"): (fresh_rope, rescale_for_fp16, *_COMMON),
    ("ane", "fp32"): (fresh_rope, *_ANE),
    ("ane", "fp16"): (fresh_rope, rescale_for_fp16, *_ANE),
}
"""By target and precision. A processor that computes in fp32 has no need of scales."""


@dataclass(frozen=True)
class Prepared:
    """How many places each pass changed, and the scales of an fp16 program that has some."""

    changes: dict[str, int]
    scales: Scales | None

    @property
    def embedding(self) -> float:
        """The factor on the embeddings."""
        return 1.0 if self.scales is None else self.scales.embedding


def prepare(
    model: torch.nn.Module, target: str, precision: str = "fp32", layers: str = "", ids: Sequence[int] = ()
) -> Prepared:
    """Applies the passes in order. ``layers`` names the list of decoder layers, ``ids`` are for calibration."""
    if (target, precision) not in PASSES:
        known = ", ".join(sorted({name for name, _ in PASSES}))
        raise ValueError(f"no target is called '{target}' with precision {precision}: one of {known}, fp32 or fp16")
    changes, scales = {}, None
    for step in PASSES[target, precision]:
        if step is rescale_for_fp16:
            scales, changes[step.__name__] = rescaled(model, layers, torch.tensor([list(ids)]))
        else:
            changes[step.__name__] = step(model)
    return Prepared(changes, scales)


__all__ = [
    "PASSES",
    "PASSES_VERSION",
    "Pass",
    "Prepared",
    "Scales",
    "calibrate_rescale",
    "chunk_mlp",
    "fresh_rope",
    "prepare",
    "rescale_for_fp16",
    "swap_attention",
    "swap_experts",
    "swap_linear",
    "swap_rmsnorm",
]
