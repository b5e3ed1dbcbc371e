"""What to build."""

import json
from dataclasses import dataclass

DECODE_Q = 8
"""Rows of a decode window; windows start at its multiples."""


@dataclass(frozen=True)
class Options:
    """Options of a build, checked against the model when it is known.

    ``max_len`` of 0 takes the smaller of 2048 and the model's own limit; the ladder's rungs below ``max_len`` are kept
    and ``max_len`` is the last one. ``calibration`` are ids of a text to choose scales on; fixed ones without it.
    """

    target: str = "cpu"
    precision: str = "fp32"
    max_len: int = 0
    prefill_window: int = 256
    ladder: tuple[int, ...] = (512, 1024, 2048, 4096, 8192)
    calibration: tuple[int, ...] = ()
    batch: bool = False

    @staticmethod
    def from_json(text: str) -> "Options":
        """From ``{"target": …, "precision": …, "maxLen": …, "prefillWindow": …, "ladder": […],
        "calibration": […], "batch": …}``; each may be absent."""
        given = json.loads(text)
        names = {
            "target": "target",
            "precision": "precision",
            "maxLen": "max_len",
            "prefillWindow": "prefill_window",
            "ladder": "ladder",
            "calibration": "calibration",
            "batch": "batch",
        }
        unknown = set(given) - set(names)
        if unknown:
            raise ValueError(f"unknown options {sorted(unknown)}; known are {sorted(names)}")
        values = {names[name]: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
        return Options(**values)

    def __post_init__(self):
        if self.precision not in ("fp32", "fp16"):
            raise ValueError(f"precision must be fp32 or fp16, found '{self.precision}'")
        if self.prefill_window < DECODE_Q or self.prefill_window % DECODE_Q:
            raise ValueError(f"prefillWindow must be a multiple of {DECODE_Q}, found {self.prefill_window}")
        if self.max_len < 0 or self.max_len % DECODE_Q:
            raise ValueError(f"maxLen must be a multiple of {DECODE_Q} (or 0), found {self.max_len}")

    def calibration_ids(self, vocab: int) -> tuple[int, ...]:
        """Ids to calibrate with, for a model with this many."""
        return self.calibration or (1 % vocab, *(each % vocab for each in range(1000, 1095)))

    def context(self, max_position: int) -> int:
        """Columns of the last rung for a model with this many positions, rounded up to whole decode windows."""
        longest = -(-max_position // DECODE_Q) * DECODE_Q
        if not self.max_len:
            return min(2048, longest)
        if self.max_len > longest:
            raise ValueError(
                f"maxLen is {self.max_len}, but the model has {max_position} positions (max_position_embeddings)"
            )
        return self.max_len

    def window(self, max_position: int) -> int:
        """Rows of a prefill window: never more than the context."""
        return min(self.prefill_window, self.context(max_position))

    def rungs(self, max_position: int) -> tuple[int, ...]:
        """The contexts that get functions of their own, ascending."""
        longest, window = self.context(max_position), self.window(max_position)
        return (*sorted({rung for rung in self.ladder if window <= rung < longest}), longest)
