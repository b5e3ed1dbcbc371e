"""What a lowering function works with: values, and a context that emits operations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..graph import Node
from ..sinks import FunctionSink, Handle


class LoweringError(Exception):
    """A graph has something that lowering cannot say in MIL."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the function being made: where the sink has it, and its shape."""

    handle: Handle
    shape: tuple[int, ...]

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


@dataclass
class Function:
    """One function on its way into a sink: counts groups, keeps what is worth asking for once."""

    sink: FunctionSink
    precision: str
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
    def shape(self) -> tuple[int, ...]:
        """Shape of the current node's only result."""
        return self.node.shapes[0]

    def group(self, kind: str) -> str:
        return self.function.group(kind)

    def emit(self, kind: str, shape: Sequence[int], composite: str | None = None, /, **operands) -> Value:
        """Appends one operation whose result has this shape."""
        plain = {name: _plain(operand) for name, operand in operands.items() if operand is not None}
        handle = self.function.sink.operation(kind, self.title, plain, composite)
        return Value(handle, tuple(shape))

    def emit_shared(self, kind: str, shape: Sequence[int], /, **operands) -> Value:
        """As :meth:`emit`, but the same operation on the same values is emitted once for the function."""
        key = (kind, *((name, _key(operand)) for name, operand in operands.items()))
        if key not in self.function.shared:
            # operands are kept too: their id() is in the key
            self.function.shared[key] = (self.emit(kind, shape, **operands), operands)
        return self.function.shared[key][0]

    def constant(self, value) -> Handle:
        return self.function.sink.constant(value)

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
