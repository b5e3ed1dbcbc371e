"""What lowering reads: an exported module as plain data.

A :class:`Graph` is an ``ExportedProgram`` without torch's machinery: nodes in order, arguments that are literals or
references, the shapes of results. It can be run (which is how every export is checked), and two graphs of one module
traced at two sizes can be joined into one that holds for any size (:func:`generalise`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of the graph, by name; ``index`` picks one result of a node with several."""

    name: str
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """``factor`` times one of the sizes a graph was generalised over, such as ``2 · rows``."""

    symbol: str
    factor: int = 1


@dataclass(frozen=True, slots=True)
class Node:
    """One operation: ``op`` is torch's name (``aten.linear.default``), ``target`` what torch calls."""

    name: str
    op: str
    target: Any
    args: tuple
    kwargs: dict
    shapes: tuple  # of each result
    dtypes: tuple
    module: str  # path and class of the module it came from, for messages
    title: str  # a name for people, from the module's path


@dataclass(frozen=True)
class Graph:
    """A traced module.

    ``inputs`` are the names of its arguments in order, ``weights`` maps placeholders to the full names of parameters
    and buffers, ``constants`` are scalars found while tracing.
    """

    inputs: tuple[str, ...]
    weights: Mapping[str, str]
    constants: Mapping[str, torch.Tensor]
    nodes: tuple[Node, ...]
    outputs: tuple[Ref, ...]
    sizes: tuple[str, ...] = ()

    def at(self, **sizes: int) -> "Graph":
        """The graph with a number for each of its symbolic sizes."""
        if set(sizes) != set(self.sizes):
            raise ValueError(f"the graph is over the sizes {self.sizes}, given were {tuple(sizes)}")

        def fix(value):
            return value.factor * sizes[value.symbol] if isinstance(value, Size) else value

        return self._mapped(fix, sizes=())

    def uses(self) -> dict[str, int]:
        """How often each value is read."""
        counts: dict[str, int] = {}
        for ref in (*(r for node in self.nodes for r in refs((node.args, node.kwargs))), *self.outputs):
            counts[ref.name] = counts.get(ref.name, 0) + 1
        return counts

    @torch.no_grad()
    def run(
        self,
        inputs: Sequence[torch.Tensor],
        weights: Mapping[str, torch.Tensor],
        instead: Mapping[str, Callable] | None = None,
    ) -> list[torch.Tensor]:
        """Computes the outputs with torch.

        ``weights`` are found by their full names; ``instead`` replaces operations by name, such as
        ``torch_ane.layer.default``.
        """
        values: dict[str, Any] = dict(zip(self.inputs, inputs, strict=True))
        values.update(self.constants)
        values.update({placeholder: weights[name] for placeholder, name in self.weights.items()})
        instead = instead or {}

        def value(argument):
            if isinstance(argument, Ref):
                found = values[argument.name]
                return found if argument.index is None else found[argument.index]
            return argument

        for node in self.nodes:
            call = instead.get(node.op, node.target)
            values[node.name] = call(*mapped(node.args, value), **mapped(node.kwargs, value))
        return [value(ref) for ref in self.outputs]

    def _mapped(self, change: Callable, sizes: tuple[str, ...]) -> "Graph":
        nodes = tuple(
            replace(
                node,
                args=mapped(node.args, change),
                kwargs=mapped(node.kwargs, change),
                shapes=mapped(node.shapes, change),
            )
            for node in self.nodes
        )
        return replace(self, nodes=nodes, sizes=sizes)


def mapped(value, change: Callable):
    """``value`` with ``change`` applied to every leaf of its tuples, lists and dicts."""
    if isinstance(value, tuple):
        return tuple([mapped(item, change) for item in value])
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return change(value)


def refs(value) -> list[Ref]:
    """All references among the leaves of a value."""
    found: list[Ref] = []
    mapped(value, lambda leaf: found.append(leaf) if isinstance(leaf, Ref) else None)
    return found


class NotUniformError(Exception):
    """Two traces of one module do not differ by their sizes alone."""


def generalise(first: Graph, second: Graph, first_sizes: Mapping[str, int], second_sizes: Mapping[str, int]) -> Graph:
    """One graph for all sizes from two traces of one module.

    Given: the graphs of one module at sizes ``{"Q": 5, "M": 11}`` and ``{"Q": 7, "M": 17}``.
    Result: the same graph with ``Size("Q")`` where the first has 5 and the second 7, and so on; every other number is
    equal in both. Raises :class:`NotUniformError` where the graphs differ in any other way, so a graph that comes back
    is the graph of both, and the numbers that vary are those that vary with the sizes.
    """
    names = {b.name: a.name for a, b in zip(first.nodes, second.nodes, strict=False)}

    def join(a, b, where: str):
        if isinstance(a, Ref) and isinstance(b, Ref):
            if a != replace(b, name=names.get(b.name, b.name)):
                raise NotUniformError(f"{where} reads {a} in one trace and {b} in the other")
            return a
        if isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
            return type(a)(join(x, y, where) for x, y in zip(a, b, strict=True))
        if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
            return {key: join(a[key], b[key], where) for key in a}
        if type(a) is type(b) and a == b:
            return a
        if type(a) is int and type(b) is int:
            for symbol, size in first_sizes.items():
                factor = a // size
                if factor > 0 and a == factor * size and b == factor * second_sizes[symbol]:
                    return Size(symbol, factor)
        raise NotUniformError(f"{where} has {a} in one trace and {b} in the other")

    if (first.inputs, dict(first.weights), len(first.nodes)) != (
        second.inputs,
        dict(second.weights),
        len(second.nodes),
    ):
        raise NotUniformError(f"the traces have {len(first.nodes)} and {len(second.nodes)} nodes")
    if first.constants.keys() != second.constants.keys() or not all(
        torch.equal(value, second.constants[name]) for name, value in first.constants.items()
    ):
        raise NotUniformError("the traces hold different constants")
    nodes = []
    for a, b in zip(first.nodes, second.nodes, strict=True):
        if a.op != b.op or a.dtypes != b.dtypes:
            raise NotUniformError(f"{a.name} is {a.op} in one trace and {b.op} in the other")
        args, kwargs, shapes = join((a.args, a.kwargs, a.shapes), (b.args, b.kwargs, b.shapes), f"{a.name} ({a.op})")
        nodes.append(replace(a, args=args, kwargs=kwargs, shapes=shapes))
    join(first.outputs, second.outputs, "the output")
    return replace(first, nodes=tuple(nodes), sizes=tuple(first_sizes))
