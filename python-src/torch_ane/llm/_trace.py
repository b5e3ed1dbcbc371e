"""Graphs for any window and context from two traces."""

from collections.abc import Callable, Mapping

import torch

from ..export import export_for_ane
from ..graph import Graph, NotUniformError, generalise
from ..lowering.table import check
from ..sinks import Progress

SAMPLES = ({"Q": 5, "M": 11}, {"Q": 7, "M": 17})
"""Rows and columns of the two traces: primes, and large enough for two windows of ``Q`` to fit ``M``."""


class Traced:
    """A module's graph at any number of rows ``Q`` and columns ``M``.

    It is traced at :data:`SAMPLES` and generalised; a module whose traces differ by more than these sizes is traced
    again for each pair it is asked for. Every trace is compared with the module, and refused where an operation has no
    lowering.
    """

    def __init__(self, module: torch.nn.Module, example: Callable[[Mapping[str, int]], tuple], progress: Progress):
        self._module, self._example, self._progress = module, example, progress
        self.traces, self.difference = 0, 0.0
        self._at: dict[tuple[int, int], Graph] = {}
        first, second = (self._trace(sizes) for sizes in SAMPLES)
        try:
            self._general: Graph | None = generalise(first, second, *SAMPLES)
        except NotUniformError:
            self._general = None
        self.sample = first

    @property
    def general(self) -> bool:
        """Whether one graph serves all sizes."""
        return self._general is not None

    def at(self, rows: int, columns: int) -> Graph:
        """The graph for a window of ``rows`` over ``columns``."""
        key = (rows, columns)
        if key not in self._at:
            sizes = {"Q": rows, "M": columns}
            self._at[key] = self._general.at(**sizes) if self._general else self._trace(sizes)
        return self._at[key]

    def _trace(self, sizes: Mapping[str, int]) -> Graph:
        exported = export_for_ane(self._module, self._example(sizes))
        check(exported.graph)
        self._progress.done(1)
        self.traces += 1
        self.difference = max(self.difference, exported.difference)
        return exported.graph
