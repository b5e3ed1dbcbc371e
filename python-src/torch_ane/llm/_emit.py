"""A traced model into sinks: weights once, then each function."""

from dataclasses import dataclass

from ..graph import Graph
from ..lowering import Context, Value, lower
from ..lowering.context import Function, StateRef
from ..lowering.table import roles
from ..sinks import FunctionSink, Progress, WeightSink
from ._skeleton import INPUTS


@dataclass(frozen=True)
class Part:
    """What a function computes: ``layers`` decoder layers from ``first`` on, and what its result is called."""

    first: int
    layers: int
    output: str = "logits"


def total_bytes(export) -> int:
    """What :func:`send_weights` counts to."""
    return sum(export.weights[name].numel() * 4 for name in sent_names(export))


def send_weights(export, sink: WeightSink, progress: Progress) -> None:
    """Every weight that a graph reads, and the embedding, in fp32; one that was sent under another name is an alias."""
    special = {export.structure.head + ".weight": "head", export.structure.embedding + ".weight": "embedding"}
    sent = {}
    for name, role in sent_names(export).items():
        tensor = export.weights[name].detach()
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride())
        if key in sent:
            sink.alias(name, sent[key])
        else:
            sent[key] = name
            data = tensor.float().contiguous()
            role = special.get(name, role)
            sink.tensor(name, "fp32", [int(n) for n in data.shape], data.data_ptr(), data.numel() * 4, role)
        progress.done(tensor.numel() * 4)


def sent_names(export) -> dict[str, str]:
    """The weights to send, the embedding first, with their roles."""
    found = {export.structure.embedding + ".weight": "embedding"}
    for name, role in roles(export.skeleton.sample).items():
        found.setdefault(name.removeprefix("lm."), role)
    for index, kind in enumerate(export.kind_of):
        for name, role in roles(kind.traced.sample).items():
            found[_layer_prefix(export, index) + name.removeprefix("layer.")] = role
    return {name: role for name, role in found.items() if not export.is_number(name)}


def _layer_prefix(export, index: int) -> str:
    return f"{export.structure.layers}.{index}."


def send_function(
    export, sink: FunctionSink, skeleton: Graph, rows: int, columns: int, progress: Progress, part: Part | None = None
) -> None:
    """A function for windows of ``rows`` over ``columns``: the skeleton, with a layer's operations at each mark.

    Without ``part`` the skeleton is the whole model's; with it, what :func:`~torch_ane.llm.chunks.cut` left of it.
    """
    whole = Part(0, export.shape.layers)
    part = part or whole
    function = Function(sink, export.options.precision)
    uses = skeleton.uses()
    read = {name for name, given in zip(INPUTS, skeleton.inputs, strict=True) if uses.get(given)}
    names = export.inputs if part == whole else [name for name in export.inputs if name in read]
    given = _declare(export, sink, names, rows, columns, bool(part.layers), "pick" in read)
    state = export.shape.state(columns, part.layers)
    states = [
        StateRef(sink.state(n, function.precision, list(state)), state)
        for n in ("key_cache", "value_cache")
        if part.layers
    ]

    def weight(name: str):
        tensor = export.weights[name]
        if export.is_number(name):
            return tensor.item()
        return Value(sink.weight(name), tuple(tensor.shape))

    def inline(index: int, hidden: Value, tensors) -> Value:
        context = Context(function, prefix=f"layers_{index}_", root="layer_", layer=index - part.first)
        graph, prefix = export.kind_of[index].traced.at(rows, columns), _layer_prefix(export, index)
        inputs = [hidden, *tensors, *states, given["step"]]
        out, _, _ = lower(context, graph, inputs, lambda name: weight(prefix + name.removeprefix("layer.")))
        progress.done(1)
        return out

    inputs = [given.get(name) for name in INPUTS]
    context = Context(function, root="lm_", inline=inline)
    (result,) = lower(context, skeleton, inputs, lambda name: weight(name.removeprefix("lm.")))
    sink.done({part.output: result.handle})


def _declare(export, sink: FunctionSink, names, rows: int, columns: int, steps: bool, picks: bool) -> dict[str, Value]:
    """The function's inputs, in the order of docs/architecture.md."""

    def declare(name: str, dtype: str, *shape: int) -> Value:
        return Value(sink.input(name, dtype, list(shape)), shape)

    precision, values = export.options.precision, {}
    for name in names:
        if name == "emb":
            values[name] = declare(name, precision, 1, rows, export.shape.hidden)
        elif name.startswith("mask"):
            values[name] = declare(name, precision, 1, 1, rows, columns)
        elif name != "pick":
            values[name] = declare(name, precision, 1, rows, export.ropes.all.dim)
    if steps:
        values["step"] = declare("step", "int32", 1)
    if picks:
        values["pick"] = declare("pick", precision, 1, rows)
    return values
