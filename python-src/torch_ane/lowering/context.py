"""What a lowering function works with: values, and a context that emits operations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ..graph import Node
from ..sinks import FunctionSink, Handle


class LoweringError(Exception):
    """A graph has something that lowering cannot say in MIL."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the function being made: where the sink has it, and its shape.

    ``kind`` is ``"float"`` (the program's precision takes the place of every float type), ``"int"`` (int32) or
    ``"bool"``; ``computed`` is false for inputs and weights.
    """

    handle: Handle
    shape: tuple[int, ...]
    kind: str = "float"
    computed: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    def axis(self, index: int) -> int:
        """A non-negative axis."""
        return index + self.rank if index < 0 else index


@dataclass(frozen=True, slots=True)
class Gate:
    """An activation that waits for the product it gates, so that both become one group."""

    kind: str
    x: Value
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StateRef:
    """A state [layers, 1, kvHeads, columns, headDim], before or after a write."""

    handle: Handle
    shape: tuple[int, ...]


def kind_of(dtype: torch.dtype) -> str:
    """The kind of values that stands for a type of torch's."""
    return "bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "int"


_BOOL_RESULTS = frozenset(
    ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    + ("logical_and", "logical_or", "logical_xor", "logical_not")
)
_INT_RESULTS = frozenset(("reduce_argmax", "reduce_argmin", "argsort"))


def _result_kind(operation: str, operands: Mapping[str, Any]) -> str:
    if operation in _BOOL_RESULTS:
        return "bool"
    if operation in _INT_RESULTS:
        return "int"
    if operation == "cast":
        return {"int32": "int", "bool": "bool"}.get(operands["dtype"], "float")
    leaves = [operands[name] for name in ("a", "b") if name in operands] or operands.values()
    for each in leaves:
        first = each[0] if isinstance(each, (list, tuple)) and each else each
        if isinstance(first, Value):
            return first.kind
    return "float"


@dataclass
class Function:
    """One function on its way into a sink: counts groups, keeps what is worth asking for once.

    ``whole_attention`` says that attention stays one operation.
    """

    sink: FunctionSink
    precision: str
    whole_attention: bool = False
    shared: dict[tuple, Any] = field(default_factory=dict)
    groups: int = 0

    def group(self, kind: str) -> str:
        """A new group's tag, such as ``rms_norm#12``."""
        self.groups += 1
        return f"{kind}#{self.groups - 1}"


@dataclass
class Context:
    """One graph being lowered into a function.

    ``prefix`` takes the place of ``root`` in the names of operations; ``layer`` is the row of the states this graph
    writes; ``inline`` lowers decoder layer ``index`` where the graph has a mark for it.
    """

    function: Function
    prefix: str = ""
    root: str = ""
    layer: int = 0
    inline: Callable[[int, Value, Sequence], Value] | None = None
    node: Node | None = None
    gates: frozenset[str] = frozenset()

    @property
    def precision(self) -> str:
        return self.function.precision

    @property
    def title(self) -> str:
        """A name for the current node's operations."""
        return self.prefix + self.node.title.removeprefix(self.root)

    @property
    def kind(self) -> str:
        """Kind of the current node's first result."""
        return kind_of(self.node.dtypes[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the current node's only result."""
        return self.node.shapes[0]

    def group(self, kind: str) -> str:
        return self.function.group(kind)

    def emit(self, kind: str, shape: Sequence[int], composite: str | None = None, /, **operands) -> Value:
        """Appends one operation whose result has this shape."""
        plain = {name: _plain(operand) for name, operand in operands.items() if operand is not None}
        handle = self.function.sink.operation(kind, self.title, plain, composite)
        return Value(handle, tuple(shape), _result_kind(kind, operands), computed=True)

    def emit_shared(self, kind: str, shape: Sequence[int], /, **operands) -> Value:
        """As :meth:`emit`, but the same operation on the same values is emitted once for the function."""
        key = (kind, *((name, _key(operand)) for name, operand in operands.items()))
        if key not in self.function.shared:
            # operands are kept too: their id() is in the key
            self.function.shared[key] = (self.emit(kind, shape, **operands), operands)
        return self.function.shared[key][0]

    def constant(self, value) -> Handle:
        return self.function.sink.constant(value)

    def weight(self, name: str, tensor: torch.Tensor) -> Value:
        """A weight that was sent, or the literal of a tensor of integers or truth values."""
        kind, shape = kind_of(tensor.dtype), tuple(tensor.shape)
        if kind == "float":
            return Value(self.function.sink.weight(name), shape)
        sink = self.function.sink
        numbers = sink.constant([int(each) for each in tensor.reshape(-1).tolist()])
        handle = sink.operation("reshape", name, {"x": numbers, "shape": list(shape)}, None)
        if kind == "bool":
            handle = sink.operation("cast", name, {"x": handle, "dtype": "bool"}, None)
        return Value(handle, shape, kind)

    def cast(self, value, kind: str, what: str = "operand"):
        """A value of this kind; a number becomes Python's number of this kind."""
        if not isinstance(value, (Value, Gate)):
            return {"float": float, "int": int, "bool": bool}[kind](value)
        x = self.tensor(value, what)
        if x.kind == kind:
            return x
        if kind == "bool":
            return self.emit("not_equal", x.shape, x=x, y=0 if x.kind == "int" else 0.0)
        return self.emit("cast", x.shape, x=x, dtype="int32" if kind == "int" else self.precision)

    def filled(self, shape: Sequence[int], value) -> Value:
        """A tensor that has one number everywhere."""
        handle = self.function.sink.operation("fill", self.title, {"shape": list(shape), "value": value}, None)
        kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
        return Value(handle, tuple(shape), kind)

    def reshaped(self, x: Value, shape: Sequence[int]) -> Value:
        """The same elements under another shape."""
        if x.shape == tuple(shape):
            return x
        if not shape:
            return self.emit("squeeze", (), x=x, axes=list(range(x.rank)))
        return self.emit("reshape", shape, x=x, shape=list(shape))

    def emit_slice(self, x: Value, axis: int, first: int, end: int) -> Value:
        """``x[first:end]`` of one axis."""
        begin, stop, shape = [0] * x.rank, list(x.shape), list(x.shape)
        begin[axis], stop[axis], shape[axis] = first, end, end - first
        return self.emit("slice_by_index", shape, x=x, begin=begin, end=stop)

    def permuted(self, x: Value, perm: Sequence[int]) -> Value:
        """With its axes in another order."""
        if list(perm) == sorted(perm):
            return x
        return self.emit("transpose", [x.shape[axis] for axis in perm], x=x, perm=list(perm))

    def tensor(self, value, what: str = "operand") -> Value:
        """``value`` if it is a tensor; refuses anything else."""
        if isinstance(value, Gate):
            return self.emit(value.kind, value.x.shape, x=value.x, **value.options)
        if not isinstance(value, Value):
            raise self.refusal(f"its {what} is {value!r}, not a tensor")
        return value

    def refusal(self, why: str) -> LoweringError:
        """An error that names the current operation and its module."""
        return LoweringError(f"cannot lower {self.node.op} of {self.prefix}{self.node.module}: {why}")


def _plain(operand):
    if isinstance(operand, (Value, StateRef)):
        return operand.handle
    if isinstance(operand, (list, tuple)):
        return [_plain(item) for item in operand]
    return operand


def _key(operand):
    if isinstance(operand, Value):
        return id(operand)
    return tuple(operand) if isinstance(operand, list) else operand
