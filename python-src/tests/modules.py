"""Compiles modules into a recorder and compares the interpreter's results with torch's."""

import copy
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from recorder import Interpreter, Recorder
from torch_ane.export import compare
from torch_ane.lowering import TABLE
from torch_ane.lowering.context import Gate
from torch_ane.module import LoadedModule, ModuleExport
from torch_ane.module._export import run
from torch_ane.module._pt2 import read


@dataclass
class Compiled:
    """A compiled module, its inputs, and what torch and the program make of them."""

    program: Recorder
    outputs: tuple
    expected: list
    found: list


def options(inputs: dict, precision: str = "fp32", target: str = "cpu") -> dict:
    return {"target": target, "precision": precision, "functions": [described(inputs)]}


def described(inputs: dict) -> list:
    kinds = {torch.float32: "fp32", torch.int64: "int32", torch.bool: "bool"}
    return [{"name": k, "dtype": kinds[v.dtype], "shape": list(v.shape)} for k, v in inputs.items()]


@contextmanager
def traced_forms(forms: dict, case: str):
    """Notes for each operation that is lowered the MIL operations it became, and the case."""
    before = dict(TABLE)

    def noting(op, function):
        def lowered(c, *args, **kwargs):
            sink = c.function.sink
            start = len(sink.operations)
            result = function(c, *args, **kwargs)
            kinds = [each.kind for each in sink.operations[start:]]
            if isinstance(result, Gate):
                kinds = [result.kind]
            forms.setdefault(op, {}).setdefault(case, list(dict.fromkeys(kinds)))
            return result

        return lowered

    TABLE.update({op: noting(op, function) for op, function in before.items()})
    try:
        yield
    finally:
        TABLE.update(before)


def compiled(
    module, method: str = "forward", arguments: dict | None = None, decomposed: bool = False, **inputs
) -> Compiled:
    """A module, or a loaded one, through the exporter and the interpreter; maybe decomposed to core ATen first."""
    if decomposed:
        program = torch.export.export(module.eval(), tuple(inputs.values())).run_decompositions()
        with tempfile.NamedTemporaryFile(suffix=".pt2") as file:
            torch.export.save(program, file.name)
            module = read(file.name)
        inputs = dict(zip(module.graph.names, inputs.values(), strict=True))
    loaded = module if isinstance(module, LoadedModule) else LoadedModule(module.eval(), method, arguments or {})
    program = Recorder()
    export = ModuleExport(loaded, options(inputs), program, list(inputs.values()))
    export.send_weights(program)
    export.send_functions(program)
    names, expected = run(loaded, list(inputs), [copy.deepcopy(each) for each in inputs.values()])
    given = {k: v.int() if v.dtype == torch.int64 else v for k, v in inputs.items()}
    found = Interpreter(program).run("main", given, {})
    return Compiled(program, tuple(names), expected, list(found.values()))


def difference(module: Compiled) -> float:
    """The largest difference, relative to the largest value where that is above 1."""
    expected = [each.int() if each.dtype == torch.int64 else each for each in module.expected]
    assert [each.dtype for each in module.found] == [each.dtype for each in expected]
    return compare("the program", module.found, expected, 1e-3)
