"""Reads Core ML packages with coremltools: their specification, and their programs back through its own inference.

Arguments: a folder of packages, and the JSON file to write: for each package what went wrong (``error``), or its functions with
inputs, states and outputs as ``[name, type, shape]``, and the values of those outputs that coremltools can compute. Where the folder
has an ``inputs.json`` (numbers by input), ``called`` is what the only function gives for them.
"""

import copy
import json
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import numpy as np


def taking_numpys_truth(reduce):
    """coremltools 9 hands a ``numpy.bool`` over as ``keepdims``, which NumPy 2 refuses."""
    return lambda *arguments, keepdims=False, **named: reduce(*arguments, keepdims=bool(keepdims), **named)


for name in ("sum", "prod", "mean", "max", "min", "amax", "amin"):
    setattr(np, name, taking_numpys_truth(getattr(np, name)))

import coremltools as ct  # after NumPy's functions were replaced
from coremltools.converters.mil.backend.mil.helper import create_scalar_value, create_tensor_value
from coremltools.converters.mil.frontend.milproto import load as milproto
from coremltools.converters.mil.mil import types
from coremltools.converters.mil.mil.operation import VALUE, precondition
from coremltools.converters.mil.mil.ops.defs import iOS15


@precondition(allow=VALUE)
def silu_value(self):
    """coremltools has no values of SiLU, which every gated layer uses."""
    x = self.x.val
    return x / (1 + np.exp(-x))


def described(var):
    kind = var.sym_type.wrapped_type() if types.is_state(var.sym_type) else var.sym_type
    shape = [int(size) for size in kind.get_shape()] if types.is_tensor(kind) else []
    primitive = kind.get_primitive() if types.is_tensor(kind) else kind
    return [var.name, types.builtin_to_string(primitive), shape]


def numbers(value):
    return [
        float(number) if np.isfinite(number) else repr(float(number)) for number in np.ravel(value).astype(np.float64)
    ]


def value_of(var):
    """The value of a result, also of a compressed constant that is passed on."""
    source = var
    while source.op is not None and source.op.op_type == "identity":
        source = source.op.x
    if source.op is not None and source.op.op_type.startswith("constexpr_"):
        return source.op.materialized_val_inference()
    return var.val


def features(listed):
    named = {}
    for feature in listed:
        kind = feature.type
        array = kind.stateType.arrayType if kind.WhichOneof("Type") == "stateType" else kind.multiArrayType
        named[feature.name] = [type(array).ArrayDataType.Name(array.dataType), list(array.shape)]
    return named


NUMPY = {
    ct.proto.MIL_pb2.INT32: np.int32,
    ct.proto.MIL_pb2.FLOAT16: np.float16,
    ct.proto.MIL_pb2.FLOAT32: np.float32,
}


def called(spec, folder, given):
    """What the only function gives for inputs, by coremltools' value inference alone."""
    program = copy.deepcopy(spec.mlProgram)
    (name,) = program.functions
    main = program.functions[name]
    block = main.block_specializations[main.opset]
    constants = []
    for value in main.inputs:
        shape = [size.constant.size for size in value.type.tensorType.dimensions]
        dtype = NUMPY[value.type.tensorType.dataType]
        immediate = create_tensor_value(np.array(given[value.name], dtype).reshape(shape))
        constants.append(
            ct.proto.MIL_pb2.Operation(
                type="const", outputs=[value], attributes={"name": create_scalar_value(value.name), "val": immediate}
            )
        )
    operations = [*constants, *block.operations]
    del block.operations[:]
    block.operations.extend(operations)
    del main.inputs[:]
    function = milproto.load_mil_proto(program, spec.specificationVersion, folder).functions[name]
    for op in function.operations:
        if any(var.val is None for var in op.outputs):
            raise ValueError(f"coremltools has no value of {op.op_type} '{op.name}'")
    return {var.name: numbers(var.val) for var in function.outputs}


def read(package, given):
    model = ct.models.MLModel(str(package), skip_model_load=True)
    spec = model.get_spec()
    folder = package / "Data" / "com.apple.CoreML" / "weights"
    program = milproto.load(spec, spec.specificationVersion, str(folder))
    functions = {}
    for name, function in program.functions.items():
        functions[name] = {
            "inputs": [described(var) for var in function.inputs.values() if not types.is_state(var.sym_type)],
            "states": [described(var) for var in function.inputs.values() if types.is_state(var.sym_type)],
            "outputs": [described(var) for var in function.outputs],
            "operations": sorted({op.op_type for op in function.operations}),
            "values": {var.name: numbers(value_of(var)) for var in function.outputs if value_of(var) is not None},
        }
    description = spec.description
    listed = description.functions or [description]
    return {
        "called": called(spec, str(folder), given) if given else {},
        "specification": spec.specificationVersion,
        "default": description.defaultFunctionName,
        "features": {
            getattr(each, "name", "") or "main": {
                "input": features(each.input),
                "output": features(each.output),
                "state": features(each.state),
            }
            for each in listed
        },
        "functions": functions,
    }


def main(folder, answer):
    answers = {}
    inputs = Path(folder) / "inputs.json"
    given = json.loads(inputs.read_text()) if inputs.exists() else {}
    if given:
        iOS15.activation.silu.value_inference = silu_value
    for package in sorted(Path(folder).glob("*.mlpackage")):
        try:
            answers[package.stem] = read(package, given)
        except Exception as failure:  # noqa: BLE001 what is wrong with one package is the answer for it
            answers[package.stem] = {"error": f"{type(failure).__name__}: {failure}"}
    Path(answer).write_text(json.dumps(answers))


main(sys.argv[1], sys.argv[2])
