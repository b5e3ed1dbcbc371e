"""The table of lowerings and the walk over a graph."""

from collections.abc import Callable, Sequence

import torch

from ..graph import Graph, Ref, mapped
from .context import Context, LoweringError, Value

TABLE: dict[str, Callable] = {}
"""Operation, by torch's name -> function of (context, *arguments of the operation)."""


def lowers(*names: str) -> Callable:
    """Files a function under the operations it lowers."""

    def register(function: Callable) -> Callable:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return register


def check(graph: Graph) -> None:
    """Refuses a graph with operations that are not in the table, all of them at once."""
    unknown = {node.op: node.module for node in graph.nodes if node.op not in TABLE}
    if unknown:
        listed = "; ".join(f"{op} from {module}" for op, module in sorted(unknown.items()))
        raise LoweringError(f"no lowering to MIL for {listed}")


def lower(context: Context, graph: Graph, inputs: Sequence, weight: Callable[[str], Value]) -> list[Value]:
    """Emits a graph's operations; answers its outputs.

    ``inputs`` are the values of the graph's inputs in order; ``weight`` finds a weight by its name in the traced
    module.
    """
    check(graph)
    values: dict[str, object] = dict(zip(graph.inputs, inputs, strict=True))
    values.update({name: _number(constant) for name, constant in graph.constants.items()})
    context.gates = gates(graph)

    def value(argument):
        if not isinstance(argument, Ref):
            return argument
        if argument.name not in values:
            values[argument.name] = weight(graph.weights[argument.name])
        found = values[argument.name]
        return found if argument.index is None else found[argument.index]

    for node in graph.nodes:
        context.node = node
        values[node.name] = TABLE[node.op](context, *mapped(node.args, value), **mapped(node.kwargs, value))
    return [value(ref) for ref in graph.outputs]


_ACTIVATIONS = ("aten.silu.default", "aten.gelu.default")


def gates(graph: Graph) -> frozenset[str]:
    """The activations whose only reader multiplies them by a tensor of the same shape."""
    uses, nodes = graph.uses(), {node.name: node for node in graph.nodes}
    found = set()
    for node in graph.nodes:
        if node.op != "aten.mul.Tensor":
            continue
        a, b = node.args
        for gate, other in ((a, b), (b, a)):
            if not (isinstance(gate, Ref) and isinstance(other, Ref)) or gate == other:
                continue
            act, up = nodes.get(gate.name), nodes.get(other.name)
            if act and up and act.op in _ACTIVATIONS and uses[act.name] == 1 and act.shapes == up.shapes:
                found.add(act.name)
                break
    return frozenset(found)


def _number(constant: torch.Tensor) -> float | int | bool:
    return constant.item()


_LINEAR = ("aten.linear.default", "aten.conv2d.default")


def roles(graph: Graph) -> dict[str, str]:
    """What a graph does with each of its weights: ``"linear"`` for the matrix of a linear layer, else ``"other"``.

    A 1×1 convolution is a linear layer too; the receiver sees by the shape which convolution is one.
    """
    matrices = {node.args[1].name for node in graph.nodes if node.op in _LINEAR}
    return {name: "linear" if placeholder in matrices else "other" for placeholder, name in graph.weights.items()}
