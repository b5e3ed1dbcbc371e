"""Sinks that remember, and a small interpreter of what they remember: the reference the programs are tested with."""

import ctypes
from dataclasses import dataclass, field

import torch

from mil import Mil

DTYPES = {
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "int32": torch.int32,
    "bool": torch.bool,
}
ANY = object()


@dataclass(eq=False)
class Handle:
    function: "RecordedFunction"
    number: int
    dtype: str
    shape: tuple
    state: bool = False


@dataclass
class Operation:
    kind: str
    name: str
    operands: dict
    composite: str | None
    results: list[Handle]


class RecordedFunction:
    def __init__(self, program: "Recorder", name: str, opset: str):
        self.program, self.name, self.opset = program, name, opset
        self.inputs: dict[str, Handle] = {}
        self.states: dict[str, Handle] = {}
        self.weights: dict[str, Handle] = {}
        self.constants: dict[int, object] = {}
        self.operations: list[Operation] = []
        self.outputs: dict[str, Handle] = {}
        self._handles: list[Handle] = []

    def _handle(self, dtype, shape, state=False) -> Handle:
        handle = Handle(self, len(self._handles), dtype, tuple(shape), state)
        self._handles.append(handle)
        return handle

    # ---- the protocol

    def input(self, name, dtype, shape):
        assert name not in self.inputs
        assert type(shape) is list and all(type(n) is int for n in shape)
        self.inputs[name] = self._handle(dtype, shape)
        return self.inputs[name]

    def state(self, name, dtype, shape):
        self.states[name] = self._handle(dtype, shape, state=True)
        return self.states[name]

    def constant(self, value):
        _check_literal(value)
        handle = self._handle("const", ())
        self.constants[handle.number] = value
        return handle

    def weight(self, name):
        tensor = self.program.weight(name)
        if name not in self.weights:
            self.weights[name] = self._handle("weight", tensor.shape)
        return self.weights[name]

    def operation(self, kind, name, operands, composite):
        assert type(operands) is dict and type(kind) is str and type(name) is str
        for operand in operands.values():
            if isinstance(operand, Handle):
                assert operand.function is self
            elif isinstance(operand, list) and operand and isinstance(operand[0], Handle):
                assert all(each.function is self for each in operand)
            else:
                _check_literal(operand)
        count = {"split": len(operands.get("split_sizes", [])), "write_state": 0, "topk": 2}.get(kind, 1)
        results = [self._handle("?", ()) for _ in range(count)]
        self.operations.append(Operation(kind, name, operands, composite, results))
        return results if kind in ("split", "topk") else results[0] if results else None

    def type_of(self, handle):
        return f"tensor<{handle.dtype}, {list(handle.shape)}>"

    def done(self, outputs):
        self.outputs = dict(outputs)

    # ---- questions the tests ask

    def kinds(self) -> list[str]:
        return [operation.kind for operation in self.operations]

    def groups(self) -> dict[str, list[Operation]]:
        found: dict[str, list[Operation]] = {}
        for operation in self.operations:
            if operation.composite:
                found.setdefault(operation.composite, []).append(operation)
        return found


def _check_literal(value):
    values = value if type(value) is list else [value]
    assert values and all(type(each) in (bool, int, float, str) for each in values), value
    assert len({type(each) for each in values}) == 1, value


@dataclass
class Recorder:
    """A program sink, a weight sink and a progress in one."""

    functions: dict[str, RecordedFunction] = field(default_factory=dict)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    stages: list[list] = field(default_factory=list)

    def function(self, name, opset):
        self.functions[name] = RecordedFunction(self, name, opset)
        return self.functions[name]

    def tensor(self, name, dtype, shape, address, nbytes, role):
        assert name not in self.tensors and not self.functions
        memory = memoryview((ctypes.c_uint8 * nbytes).from_address(address))
        self.tensors[name] = torch.frombuffer(memory, dtype=DTYPES[dtype]).reshape(shape).clone()
        self.roles[name] = role

    def alias(self, name, of):
        self.aliases[name] = of

    def weight(self, name) -> torch.Tensor:
        return self.tensors[self.aliases.get(name, name)]

    def stage(self, stage, total, unit):
        self.stages.append([stage, total, 0])

    def done(self, units):
        if self.stages:
            self.stages[-1][2] += units


class Interpreter(Mil):
    """Runs a recorded function with torch: MIL as the documentation describes it, in the declared types."""

    def __init__(self, program: Recorder, precision: str = "fp32"):
        self.program, self.precision = program, DTYPES[precision]

    @torch.no_grad()
    def run(self, name: str, inputs: dict[str, torch.Tensor], states: dict[str, torch.Tensor]) -> dict:
        function = self.program.functions[name]
        assert inputs.keys() == function.inputs.keys()
        values: dict[int, torch.Tensor] = {}
        for key, handle in function.inputs.items():
            assert tuple(inputs[key].shape) == handle.shape, key
            values[handle.number] = inputs[key].to(DTYPES[handle.dtype])
        for key, handle in function.weights.items():
            values[handle.number] = self.program.weight(key).to(self.precision)
        for number, constant in function.constants.items():
            values[number] = torch.tensor(constant, dtype=self._type(constant))
        names = {handle.number: key for key, handle in function.states.items()}

        def value(operand):
            if isinstance(operand, Handle):
                return names[operand.number] if operand.state else values[operand.number]
            if isinstance(operand, list) and operand and isinstance(operand[0], Handle):
                return [value(each) for each in operand]
            return operand

        for operation in function.operations:
            operands = {key: value(operand) for key, operand in operation.operands.items()}
            if operation.kind == "read_state":
                result = states[operands["input"]].clone()
            elif operation.kind == "write_state":
                states[operands["input"]] = operands["data"]
                continue
            else:
                result = getattr(self, operation.kind)(**operands)
            if operation.kind in ("split", "topk"):
                values.update({handle.number: part for handle, part in zip(operation.results, result, strict=True)})
            else:
                values[operation.results[0].number] = result
        return {key: values[handle.number] for key, handle in function.outputs.items()}

    def _type(self, constant):
        first = constant[0] if isinstance(constant, list) else constant
        return {bool: torch.bool, int: torch.int32}.get(type(first), self.precision)

    # ---- MIL

    def add(self, x, y):
        return self._both(x, y, torch.add)

    def sub(self, x, y):
        return self._both(x, y, torch.sub)

    def mul(self, x, y):
        return self._both(x, y, torch.mul)

    def real_div(self, x, y):
        return self._both(x, y, torch.div)

    def pow(self, x, y):
        return self._both(x, y, torch.pow)

    def _both(self, x, y, function):
        other = x if isinstance(x, torch.Tensor) else y
        for each in (x, y):  # a literal has the type of the tensor beside it
            assert isinstance(each, torch.Tensor) or type(each) is (float if other.is_floating_point() else int), (x, y)
        x, y = (each if isinstance(each, torch.Tensor) else torch.tensor(each, dtype=other.dtype) for each in (x, y))
        assert x.dtype == y.dtype, (x.dtype, y.dtype)
        return function(x, y)

    def maximum(self, x, y):
        return self._both(x, y, torch.maximum)

    def minimum(self, x, y):
        return self._both(x, y, torch.minimum)

    def rsqrt(self, x, epsilon):
        return torch.rsqrt(x + epsilon)

    def silu(self, x):
        return torch.nn.functional.silu(x)

    def gelu(self, x, mode):
        return torch.nn.functional.gelu(x, approximate={"EXACT": "none", "TANH_APPROXIMATION": "tanh"}[mode])

    def tanh(self, x):
        return torch.tanh(x)

    def sigmoid(self, x):
        return torch.sigmoid(x)

    def softplus(self, x):
        return torch.nn.functional.softplus(x)

    def clip(self, x, alpha, beta):
        return x.clamp(alpha, beta)

    def softmax(self, x, axis):
        return x.softmax(axis)

    def linear(self, x, weight, bias=None):
        return torch.nn.functional.linear(x, weight, bias)

    def matmul(self, x, y, transpose_x, transpose_y):
        return torch.matmul(x.mT if transpose_x else x, y.mT if transpose_y else y)

    def reduce_mean(self, x, axes, keep_dims):
        return x.mean(axes, keepdim=keep_dims)

    def reduce_sum(self, x, axes, keep_dims):
        return x.sum(axes, keepdim=keep_dims)

    def reduce_max(self, x, axes, keep_dims):
        return x.amax(axes, keepdim=keep_dims)

    def layer_norm(self, x, axes, epsilon, gamma=None, beta=None):
        return torch.nn.functional.layer_norm(x, [x.shape[axis] for axis in axes], gamma, beta, epsilon)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def transpose(self, x, perm):
        return x.permute(perm)

    def expand_dims(self, x, axes):
        for axis in axes:
            x = x.unsqueeze(axis)
        return x

    def squeeze(self, x, axes):
        return x.squeeze(axes)

    def concat(self, values, axis, interleave):
        assert interleave is False
        return torch.cat(values, axis)

    def split(self, x, split_sizes, axis):
        return x.split(split_sizes, axis)

    def slice_by_index(self, x, begin, end, stride=None, squeeze_mask=None):
        stride = stride or [1] * x.ndim
        index = tuple(slice(int(b), int(e), s) for b, e, s in zip(begin, end, stride, strict=True))
        found = x[index]
        return found.squeeze([axis for axis, gone in enumerate(squeeze_mask or []) if gone]) if squeeze_mask else found

    def slice_update(self, x, update, begin, end):
        index = tuple(slice(int(b), int(e)) for b, e in zip(begin, end, strict=True))
        assert x[index].shape == update.shape and x.dtype == update.dtype
        x = x.clone()
        x[index] = update
        return x

    def tile(self, x, reps):
        return x.repeat(reps)
