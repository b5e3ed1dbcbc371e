"""One module on its way into a program: a function for each set of inputs, over one set of weights."""

import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from ..export import compare, export_for_ane, weights_of
from ..graph import Graph
from ..lowering import Context, Value, lower
from ..lowering.context import Function, Gate, LoweringError, kind_of
from ..lowering.table import check, roles
from ..sinks import ProgramSink, Progress, WeightSink
from ._attention import split_attention
from ._call import Call
from ._fold import fold
from ._source import LoadedModule

OPSET = "ios18"
_TYPES = {"fp32": torch.float32, "fp16": torch.float32, "int32": torch.int64, "bool": torch.bool}


@dataclass(frozen=True)
class Input:
    """A tensor of a function: int32 in the program is int64 for torch."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def example(self, seed: int) -> torch.Tensor:
        """Normal numbers, truth values, or integers that every table has: 0 and 1. The same ones for the same seed."""
        generator = torch.Generator().manual_seed(seed)
        if self.dtype == "int32":
            return torch.randint(0, 2, self.shape, generator=generator)
        if self.dtype == "bool":
            return torch.randint(0, 2, self.shape, generator=generator).bool()
        return torch.randn(self.shape, generator=generator)


@dataclass(frozen=True)
class Traced:
    """A function before it is lowered."""

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    graph: Graph
    weights: Mapping[str, torch.Tensor]


class ModuleExport:
    """Traces a module for each set of inputs and compares each trace with the module; then feeds the sinks.

    ``functions`` are lists of ``{"name": …, "dtype": …, "shape": […]}``; ``examples`` are the tensors to trace the only
    one with, random ones if there are none. Raises
    :class:`~torch_ane.lowering.LoweringError` for operations that have no lowering, all of them at once, and
    :class:`~torch_ane.export.ExportError` where a trace and the module disagree.
    """

    def __init__(self, loaded: LoadedModule, options: Mapping, progress: Progress, examples: Sequence = ()):
        self.loaded, self.progress = loaded, progress
        self.precision, self.target = options["precision"], options["target"]
        self.stages: dict[str, float] = {}
        self.difference = 0.0
        functions = [
            tuple([Input(each["name"], each["dtype"], tuple(each["shape"])) for each in one])
            for one in options["functions"]
        ]
        if self.target == "ane":
            split_attention(loaded.module)
        with self._stage("trace", len(functions), "functions"):
            self.traced = [
                self._trace(index, inputs, examples or [each.example(seed) for seed, each in enumerate(inputs)])
                for index, inputs in enumerate(functions)
            ]
        for each in self.traced:
            check(each.graph)

    def _trace(self, index: int, inputs: Sequence[Input], examples: Sequence[torch.Tensor]) -> Traced:
        if self.loaded.graph is not None:
            graph, outputs = self._given(inputs, examples)
            weights = weights_of(self.loaded.module)
        else:
            call = Call(self.loaded.module, self.loaded.method, [each.name for each in inputs], self.loaded.arguments)
            exported = export_for_ane(call, examples, tensors=True)
            graph, outputs = _without_call(exported.graph), call.outputs
            weights = {name.removeprefix("module."): tensor for name, tensor in weights_of(call).items()}
            self.difference = max(self.difference, exported.difference)
        outputs = named_apart(outputs, [each.name for each in inputs])
        name = "main" if index == 0 else f"main_{index}"
        folded, tensors = fold(graph, weights, f"{name}_")
        compare(
            "the graph with its constants folded", folded.run(examples, tensors), graph.run(examples, weights), 1e-5
        )
        self.progress.done(1)
        return Traced(name, tuple(inputs), outputs, folded, tensors)

    def _given(self, inputs: Sequence[Input], examples: Sequence[torch.Tensor]):
        return self.loaded.graph.checked(inputs, examples)

    # ---- sending

    def send_weights(self, sink: WeightSink) -> None:
        """Every tensor once; one that was sent under another name is an alias."""
        sent: dict[tuple, str] = {}
        given: set[str] = set()
        total = sum(tensor.numel() * 4 for each in self.traced for tensor in each.weights.values())
        with self._stage("weights", total, "bytes"):
            for each in self.traced:
                kinds = roles(each.graph)
                for name, tensor in each.weights.items():
                    if name in given or not tensor.is_floating_point():
                        continue
                    given.add(name)
                    self._send(sink, sent, name, tensor.detach(), kinds.get(name, "other"))

    def _send(self, sink: WeightSink, sent: dict, name: str, tensor: torch.Tensor, role: str) -> None:
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride())
        if key in sent:
            sink.alias(name, sent[key])
        else:
            sent[key] = name
            data = tensor.float().contiguous()
            if self.precision == "fp16":
                data = data.clamp(-65504.0, 65504.0)
            sink.tensor(name, "fp32", [int(n) for n in data.shape], data.data_ptr(), data.numel() * 4, role)
        self.progress.done(tensor.numel() * 4)

    def send_functions(self, sink: ProgramSink) -> None:
        """``main``, ``main_1``, …, in the order of their inputs."""
        for each in self.traced:
            with self._stage(f"lower {each.name}", len(each.graph.nodes), "operations"):
                self._send_function(sink, each)

    def _send_function(self, sink: ProgramSink, traced: Traced) -> None:
        function = Function(sink.function(traced.name, OPSET), self.precision, whole_attention=self.target != "ane")
        values = []
        for each in traced.inputs:
            dtype = self.precision if each.dtype in ("fp32", "fp16") else each.dtype
            handle = function.sink.input(each.name, dtype, list(each.shape))
            values.append(Value(handle, each.shape, kind_of(_TYPES[each.dtype])))
        context = Context(function, root="module_")
        results = lower(context, traced.graph, values, lambda name: context.weight(name, traced.weights[name]))
        found = {}
        for name, result in zip(traced.outputs, results, strict=True):
            if isinstance(result, Gate):
                result = context.tensor(result)
            if not isinstance(result, Value):
                raise LoweringError(f"the output {name} does not depend on the inputs")
            found[name] = result.handle
        function.sink.done(found)

    def report(self) -> dict:
        """For the manifest: seconds by stage, and how far the traces are from the module."""
        return {"stages": self.stages, "maxDifference": {"trace": self.difference}}

    @contextmanager
    def _stage(self, name: str, total: int, unit: str):
        self.progress.stage(name, total, unit)
        start = time.perf_counter()
        yield
        key = name.split(" ")[0]
        self.stages[key] = self.stages.get(key, 0) + time.perf_counter() - start


def _without_call(graph: Graph) -> Graph:
    """As if the module had been traced without the :class:`Call` around it."""
    nodes = tuple([replace(node, module=_place(node.module)) for node in graph.nodes])
    return replace(graph, nodes=nodes, weights={k: v.removeprefix("module.") for k, v in graph.weights.items()})


def _place(module: str) -> str:
    if module.startswith("module ("):
        return "the root module" + module.removeprefix("module")
    return module.removeprefix("module.")


def named_apart(outputs: Sequence[str], inputs: Sequence[str]) -> tuple[str, ...]:
    """Names of the outputs; one that is called as an input, as in diffusers' U-Net, gets ``_out`` behind it."""
    return tuple([f"{name}_out" if name in inputs else name for name in outputs])


def run(loaded: LoadedModule, names: Sequence[str], tensors: Sequence[torch.Tensor]) -> tuple[list[str], list]:
    """Names and tensors of what the module answers in torch."""
    if loaded.graph is not None:
        outputs, results = loaded.graph.run(names, tensors, weights_of(loaded.module))
        return list(named_apart(outputs, names)), results
    call = Call(loaded.module, loaded.method, names, loaded.arguments)
    with torch.no_grad():
        results = call(*tensors)
    return list(named_apart(call.outputs, names)), list(results)
