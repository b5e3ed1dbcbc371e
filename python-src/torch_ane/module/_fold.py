"""Computes what does not depend on inputs while the graph is made: masks, positions, tables of indices."""

from collections.abc import Mapping
from dataclasses import replace

import torch

from ..graph import Graph, Node, Ref, mapped, refs


def fold(graph: Graph, weights: Mapping[str, torch.Tensor], prefix: str) -> tuple[Graph, dict[str, torch.Tensor]]:
    """The graph without the nodes that depend on weights alone, and the tensors that stand for them.

    Given: ``arange`` → ``unsqueeze`` → ``add``(input, ·). Result: ``add``(input, constant). Tensors that only folded
    nodes read are gone; the others are weights of the new graph under their old names, or under ``prefix``
    and the nodes' names.
    """
    known: dict[str, object] = dict(graph.constants)
    known.update({placeholder: weights[name] for placeholder, name in graph.weights.items()})
    kept = []

    def value(argument):
        if not isinstance(argument, Ref):
            return argument
        found = known[argument.name]
        return found if argument.index is None else found[argument.index]

    with torch.no_grad():
        for node in graph.nodes:
            made = _made(node)
            if made is not None:
                known[node.name] = made
            elif all(ref.name in known for ref in refs((node.args, node.kwargs))):
                known[node.name] = node.target(*mapped(node.args, value), **mapped(node.kwargs, value))
            else:
                kept.append(node)

    kept = [_as_linear(node, known) for node in kept]
    constants, names, tensors = {}, {}, {}

    def keep(argument):
        if not isinstance(argument, Ref) or argument.name not in known:
            return argument
        tensor = value(argument)
        if not isinstance(tensor, torch.Tensor):
            return tensor
        name = argument.name if argument.index is None else f"{argument.name}_{argument.index}"
        if argument.name in graph.weights and argument.name not in graph.constants:
            names[name] = graph.weights[argument.name]
        elif tensor.ndim == 0:
            constants[name] = tensor
            return Ref(name)
        else:
            names[name] = f"{prefix}{name}"
        tensors[names[name]] = tensor
        return Ref(name)

    nodes = tuple([replace(node, args=mapped(node.args, keep), kwargs=mapped(node.kwargs, keep)) for node in kept])
    outputs = tuple([keep(ref) for ref in graph.outputs])
    return replace(graph, nodes=nodes, outputs=outputs, weights=names, constants=constants), tensors


_PRODUCTS = {"aten.mm.default": 0, "aten.matmul.default": 0, "aten.addmm.default": 1}


def _as_linear(node: Node, known: dict) -> Node:
    """A product with a known matrix ``[in, out]`` as a linear layer, whose weight ``[out, in]`` becomes known too.

    Given: ``addmm``(bias, x, w). Result: ``linear``(x, wᵀ, bias).
    """
    if node.op not in _PRODUCTS or node.kwargs:
        return node
    first = _PRODUCTS[node.op]
    x, w = node.args[first], node.args[first + 1]
    if not isinstance(w, Ref) or w.name not in known or known[w.name].ndim != 2 or len(node.shapes[0]) < 2:
        return node
    name = f"{w.name}_transposed"
    known[name] = known[w.name].t()
    bias = node.args[:first]
    if bias and not (isinstance(bias[0], Ref) and bias[0].name in known and known[bias[0].name].ndim == 1):
        return node
    target = torch.ops.aten.linear.default
    return replace(node, op="aten.linear.default", target=target, args=(x, Ref(name), *bias), kwargs={})


_FILLS = {
    "aten.zeros_like": 0,
    "aten.new_zeros": 0,
    "aten.empty_like": 0,
    "aten.new_empty": 0,
    "aten.ones_like": 1,
    "aten.new_ones": 1,
}


def _made(node) -> torch.Tensor | None:
    """What a node makes that reads nothing of its operand but the shape and the type."""
    name = node.op.rsplit(".", 1)[0]
    if name in _FILLS:
        return torch.full(node.shapes[0], _FILLS[name], dtype=node.dtypes[0])
    if name in ("aten.full_like", "aten.new_full"):
        number = node.args[1 if name == "aten.full_like" else 2]
        if not isinstance(number, Ref):
            return torch.full(node.shapes[0], number, dtype=node.dtypes[0])
    return None
