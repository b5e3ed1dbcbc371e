"""Modules to graphs: ``torch.export`` without TorchDynamo, checked before anyone lowers the result.

The graph keeps what engines do well as one operation: linear, convolution, attention, softmax, layer and group norm,
SiLU, GELU. It is torch's training IR, which is exactly that, so nothing is decomposed unless asked: each decomposition
traces the whole graph again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import InputKind

from .graph import Graph, Node, Ref, refs

_WEIGHT_KINDS = (InputKind.PARAMETER, InputKind.BUFFER)


class ExportError(Exception):
    """A module cannot be exported, or its export is wrong."""


@dataclass(frozen=True)
class Exported:
    """A module's graph, and the largest difference between what it computes and what the module computes."""

    graph: Graph
    difference: float


def export_for_ane(
    module: torch.nn.Module,
    args: Sequence[torch.Tensor],
    *,
    decompositions: Mapping | None = None,
    tolerance: float = 1e-5,
    tensors: bool = False,
) -> Exported:
    """Exports a module and compares the graph with the module on ``args``.

    ``decompositions`` are applied when given; operations in place are made functional. With ``tensors`` the graph may
    have constants of any shape, otherwise scalars only. Raises :class:`ExportError` when a constant of the graph is not
    a weight of the module (a scalar apart), or when the difference is more than ``tolerance`` times the largest value.
    """
    module = module.eval()
    program = _export(module, tuple(args))
    if decompositions or any(_writes(node) for node in program.graph.nodes):
        program = program.run_decompositions(dict(decompositions or {}))
    graph = graph_of(program, tensors)
    with torch.no_grad():
        expected = module(*args)
    expected = [expected] if isinstance(expected, torch.Tensor) else list(expected)
    found = graph.run(args, weights_of(module))
    return Exported(graph, compare(f"the export of {type(module).__name__}", found, expected, tolerance))


def compare(what: str, found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], tolerance: float) -> float:
    """The largest difference, relative to the largest expected value where that is above 1; refuses too much of it."""
    worst = 0.0
    for index, (a, b) in enumerate(zip(found, expected, strict=True)):
        if isinstance(a, FakeTensor):
            raise ExportError(f"{what} computes result {index} with a FakeTensor")
        if a.shape != b.shape:
            raise ExportError(f"{what} has result {index} of shape {list(a.shape)}, eager has {list(b.shape)}")
        if a.numel() == 0:
            continue
        difference = (a.float() - b.float()).abs().max().item() / max(1.0, b.float().abs().max().item())
        if not difference <= tolerance:  # NaN too
            raise ExportError(
                f"{what} differs from eager by {difference:.3g} in result {index}, at most {tolerance:.3g} is allowed"
            )
        worst = max(worst, difference)
    return worst


def weights_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by every name they have (a tied weight has several)."""
    return {
        **dict(module.named_buffers(remove_duplicate=False)),
        **dict(module.named_parameters(remove_duplicate=False)),
    }


def _export(module: torch.nn.Module, args: tuple) -> torch.export.ExportedProgram:
    # until torch 2.6 export() lowers composite operations at once, and export_for_training() does not
    training = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 7)
    export = torch.export.export_for_training if training else torch.export.export
    with torch.no_grad():
        return export(module, args, strict=False)


def _writes(node) -> bool:
    """Whether a node changes a tensor in place (detach_ changes none)."""
    return (
        isinstance(node.target, torch._ops.OpOverload)
        and node.target._schema.is_mutable
        and node.target is not torch.ops.aten.detach_.default
    )


def graph_of(program: torch.export.ExportedProgram, tensors: bool = False) -> Graph:
    """The exported program as a :class:`~torch_ane.graph.Graph`, without the nodes nobody reads.

    Raises :class:`ExportError` for a constant that is neither a weight of the module nor a scalar, or that is a
    FakeTensor: the sign of a trace that lost a tensor.
    """
    fx_nodes = list(program.graph.nodes)
    nodes = [_node(node) for node in fx_nodes if node.op == "call_function"]
    (output,) = [node for node in fx_nodes if node.op == "output"]
    outputs = tuple(refs(_plain(output.args)))
    nodes = _read_ones(nodes, outputs)
    read = {ref.name for node in nodes for ref in refs((node.args, node.kwargs))} | {ref.name for ref in outputs}

    inputs, weights, constants = [], {}, {}
    for spec in program.graph_signature.input_specs:
        name = spec.arg.name
        if spec.kind == InputKind.USER_INPUT:
            inputs.append(name)
        elif name not in read:
            continue
        elif spec.kind in _WEIGHT_KINDS:
            weights[name] = spec.target
        else:
            constants[name] = _constant(name, spec.target, program.constants.get(spec.target), tensors)
    return Graph(tuple(inputs), weights, constants, tuple(nodes), outputs)


def _constant(name: str, target: str, value, tensors: bool) -> torch.Tensor:
    if isinstance(value, FakeTensor):
        raise ExportError(f"the constant {target} of the exported graph is a FakeTensor: the trace lost a tensor")
    if not isinstance(value, torch.Tensor) or (value.numel() != 1 and not tensors):
        found = f"a tensor of shape {list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)
        raise ExportError(
            f"the exported graph has the constant {name} ({found}) that is no parameter or buffer of the module: "
            "register it as a buffer"
        )
    return value


def _read_ones(nodes: list[Node], outputs: tuple[Ref, ...]) -> list[Node]:
    read = {ref.name for ref in outputs}
    kept = []
    for node in reversed(nodes):
        if node.name in read:
            kept.append(node)
            read.update(ref.name for ref in refs((node.args, node.kwargs)))
    return kept[::-1]


def _node(node) -> Node:
    value = node.meta.get("val")
    results = [
        item for item in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(item, torch.Tensor)
    ]
    return Node(
        name=node.name,
        op=_op_name(node.target),
        target=node.target,
        args=_plain(node.args),
        kwargs=_plain(dict(node.kwargs)),
        shapes=tuple([tuple([int(size) for size in item.shape]) for item in results]),
        dtypes=tuple([item.dtype for item in results]),
        module=_module(node),
        title=_title(node),
    )


def _op_name(target) -> str:
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    return getattr(target, "__name__", str(target))


def _plain(value):
    """fx's arguments with nodes replaced by references, and its immutable collections by plain ones."""
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return Ref(value.name) if isinstance(value, torch.fx.Node) else value


_NAMED_BY_MODULE = ("linear", "rms_norm", "layer_norm", "group_norm", "conv2d", "embedding")


def _title(node) -> str:
    """``self_attn_q_proj`` for a module's one operation, ``self_attn_view`` for others."""
    stack = node.meta.get("nn_module_stack")
    path = list(stack.values())[-1][0] if stack else ""
    operation = _op_name(node.target).split(".")
    operation = operation[1] if len(operation) > 1 else operation[0]
    parts = path.split(".") if path else []
    return "_".join(parts if parts and operation in _NAMED_BY_MODULE else [*parts, operation])


def _module(node) -> str:
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return "the root module"
    path, kind = list(stack.values())[-1]
    kind = kind if isinstance(kind, str) else kind.__name__
    return f"{path or 'the root module'} ({kind.rsplit('.', 1)[-1]})"
