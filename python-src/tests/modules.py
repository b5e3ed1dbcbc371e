"""Compiles modules into a recorder and compares the interpreter's results with torch's."""

import copy
from dataclasses import dataclass

import torch

from recorder import Interpreter, Recorder
from torch_ane.export import compare
from torch_ane.module import LoadedModule, ModuleExport
from torch_ane.module._export import run


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


def compiled(module, method: str = "forward", arguments: dict | None = None, **inputs) -> Compiled:
    """A module, or a loaded one, through the exporter and the interpreter."""
    loaded = module if isinstance(module, LoadedModule) else LoadedModule(module.eval(), method, arguments or {})
    program = Recorder()
    export = ModuleExport(loaded, options(inputs), program)
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
