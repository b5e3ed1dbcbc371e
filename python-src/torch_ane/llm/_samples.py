"""Inputs for tracing and checking: deterministic, ordinary in size, and honest about what a mask hides."""

import torch

from ._kv import MASK_NEG
from ._rope import Rope


def wave(*shape: int, speed: float = 1.0) -> torch.Tensor:
    """Numbers between -1 and 1 without a pattern that an axis could share."""
    count = 1
    for size in shape:
        count *= size
    return (torch.arange(count, dtype=torch.float32) * (0.7 * speed) + 0.3).sin().reshape(shape)


def mask(rows: int, columns: int, start: int = 0, window: int | None = None) -> torch.Tensor:
    """[1, 1, rows, columns]: row j, at position ``start + j``, sees the last ``window`` (or all) columns up to it."""
    position = torch.arange(start, start + rows)[:, None]
    column = torch.arange(columns)[None, :]
    seen = column <= position
    if window is not None:
        seen = seen & (column > position - window)
    return torch.where(seen, 0.0, MASK_NEG)[None, None]


def one_hot(row: int, rows: int) -> torch.Tensor:
    """[1, rows]"""
    return torch.nn.functional.one_hot(torch.tensor([row]), rows).float()


def every_row(rows: int) -> torch.Tensor:
    """[rows, rows]: the ``pick`` that wants all rows."""
    return torch.eye(rows)


def skeleton_example(shape, rotary_dim: int, pick: torch.Tensor, Q: int, M: int) -> tuple[torch.Tensor, ...]:  # noqa: N803
    """What the skeleton is traced with; ``Q`` and ``M`` are the names of sizes."""
    rows = [wave(1, Q, rotary_dim, speed=1 + 0.1 * n) for n in range(4)]
    positions = torch.arange(Q)[None]
    return (wave(1, Q, shape.hidden), positions, *rows, mask(Q, M), mask(Q, M, window=2), pick)


def layer_example(shape, rope: Rope, Q: int, M: int, start: int | None = None) -> tuple:  # noqa: N803
    """What a layer is traced and checked with: a window at ``start`` over a state that is not empty."""
    start = M - Q if start is None else start
    cos, sin = rope.rows(torch.arange(start, start + Q))
    keys, values = wave(*shape.state(M, 1), speed=1.3), wave(*shape.state(M, 1), speed=1.7)
    step = torch.tensor([start], dtype=torch.int32)
    return wave(1, Q, shape.hidden), cos, sin, mask(Q, M, start), keys, values, step
