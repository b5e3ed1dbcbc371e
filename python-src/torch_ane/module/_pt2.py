"""Programs that ``torch.export.save`` wrote on any machine: their JSON and tensors, read by this module alone.

Nothing of a file is unpickled or imported. Operations are those of ``aten`` and ``prims``, found by name in this
process's own torch.
"""

import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from ..graph import Graph, Node, Ref, mapped, refs
from ._tensors import TensorFileError, read_tensors

TESTED = ("2.6",)
"""Versions of torch whose files are read and tested."""

_DTYPES = {
    1: torch.uint8,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.float16,
    7: torch.float32,
    8: torch.float64,
    12: torch.bool,
    13: torch.bfloat16,
}
_PROGRAM, _STATE, _CONSTANTS = "serialized_exported_program.json", "serialized_state_dict.pt", "serialized_constants.pt"


class ExportedProgramError(Exception):
    """A file is no exported program, was written by another version, or has something that no program can have."""


@dataclass(frozen=True)
class ExportedGraph:
    """A graph as it was exported: with its inputs' types, and names of its outputs."""

    graph: Graph
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[torch.dtype, ...]
    outputs: tuple[str, ...]

    def checked(self, inputs: Sequence, examples: Sequence[torch.Tensor]) -> tuple[Graph, tuple[str, ...]]:
        """The graph and its outputs' names, if these are its inputs."""
        given = [(each.name, tuple(each.shape)) for each in inputs]
        own = list(zip(self.names, self.shapes, strict=True))
        if given != own:
            raise ExportedProgramError(
                f"the program was exported for the inputs {_listed(own)}, it was asked for with {_listed(given)}: "
                "its shapes are fixed, export it again for others"
            )
        for name, dtype, example in zip(self.names, self.dtypes, examples, strict=True):
            if dtype.is_floating_point != example.dtype.is_floating_point or (dtype == torch.bool) != (
                example.dtype == torch.bool
            ):
                raise ExportedProgramError(f"the input {name} was exported as {dtype}, not as {example.dtype}")
        return self.graph, self.outputs

    def run(self, names: Sequence[str], tensors: Sequence[torch.Tensor], weights: Mapping) -> tuple[list[str], list]:
        """Names and values of the outputs."""
        given = dict(zip(names, tensors, strict=True))
        inputs = [given[name].to(dtype) for name, dtype in zip(self.names, self.dtypes, strict=True)]
        return list(self.outputs), self.graph.run(inputs, weights)


def _listed(inputs) -> str:
    return ", ".join(f"{name} {list(shape)}" for name, shape in inputs)


def read(file: str):
    """The program of a ``.pt2`` file, and its tensors as the buffers of a module."""
    from ._source import LoadedModule

    try:
        with zipfile.ZipFile(file) as archive:
            _require_known(file, archive)
            program = json.loads(archive.read(_PROGRAM))
            state = read_tensors(archive.read(_STATE), f"the state of {file}")
            constants = read_tensors(archive.read(_CONSTANTS), f"the constants of {file}")
    except (zipfile.BadZipFile, json.JSONDecodeError, KeyError) as error:
        raise ExportedProgramError(f"{file} is no file of torch.export.save, or is damaged: {error!r}") from error
    except TensorFileError as error:
        raise ExportedProgramError(str(error)) from error
    version = str(program.get("torch_version", "unknown"))
    if ".".join(version.split(".")[:2]) not in TESTED:
        raise ExportedProgramError(
            f"{file} was written by torch {version} (schema {program.get('schema_version')}); read are files of torch "
            f"{', '.join(TESTED)}: export the module again with that, or name its factory instead"
        )
    module = torch.nn.Module()
    try:
        graph = _Reader(file, program["graph_module"], module).read(state, constants)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ExportedProgramError(f"{file} does not follow the schema of torch {version}: {error!r}") from error
    return LoadedModule(module, graph=graph)


def _require_known(file: str, archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    if _PROGRAM in names:
        return
    newer = [name for name in names if name.endswith(("archive_version", "archive_format"))]
    if newer:
        version = archive.read(newer[0]).decode(errors="replace").strip()
        raise ExportedProgramError(
            f"{file} is a PT2 archive ({newer[0]} {version}), as torch from 2.8 on writes it; read are files of torch "
            f"{', '.join(TESTED)}: export the module with that, or name its factory instead"
        )
    raise ExportedProgramError(f"{file} is no file of torch.export.save: it has no {_PROGRAM}")


class _Reader:
    """One program's JSON as a :class:`~torch_ane.graph.Graph`."""

    def __init__(self, file: str, program: Mapping, module: torch.nn.Module):
        self.file, self.module = file, module
        self.graph, self.signature = program["graph"], program["signature"]
        self.calls = program.get("module_call_graph", [])
        self.scalars: dict[str, torch.Tensor] = {}

    def read(self, state: Mapping, constants: Mapping) -> ExportedGraph:
        inputs, weights, fixed = [], {}, {}
        for spec in self.signature["input_specs"]:
            ((kind, value),) = spec.items()
            if kind == "user_input":
                inputs.append(self._name(value["arg"]))
            elif kind in ("parameter", "buffer"):
                name = value["parameter_name" if kind == "parameter" else "buffer_name"]
                found = state if kind == "parameter" or value.get("persistent", True) else constants
                weights[value["arg"]["name"]] = self._keep(name, found[name])
            elif kind == "tensor_constant":
                name = value["tensor_constant_name"]
                fixed[value["arg"]["name"]] = constants[name]
            else:
                raise ExportedProgramError(f"{self.file} has an input of kind {kind}, which no program can have")
        for spec in self.signature["output_specs"]:
            ((kind, _),) = spec.items()
            if kind != "user_output":
                raise ExportedProgramError(
                    f"{self.file} changes a tensor of its own ({kind}): only results are lowered"
                )
        nodes = _functional(self.file, [self._node(index, node) for index, node in enumerate(self.graph["nodes"])])
        nodes, renamed = nodes
        outputs = tuple([renamed.get(ref.name, ref) for ref in map(self._ref, self.graph["outputs"])])
        graph = Graph(tuple(inputs), weights, fixed, tuple(nodes), outputs)
        values = self.graph["tensor_values"]
        shapes = tuple([self._shape(name, values[name]) for name in inputs])
        dtypes = tuple([_DTYPES[values[name]["dtype"]] for name in inputs])
        return ExportedGraph(graph, tuple(inputs), shapes, dtypes, self._output_names(len(outputs)))

    def _keep(self, name: str, tensor: torch.Tensor) -> str:
        """Registers a tensor; dots cannot be in the name of a buffer, so they become other dots."""
        own = name.replace(".", "·")
        if own not in dict(self.module.named_buffers()):
            self.module.register_buffer(own, tensor)
        return own

    def _output_names(self, count: int) -> tuple[str, ...]:
        """Names by the structure of the result, as :class:`Call` gives them."""
        for call in self.calls:
            if call.get("fqn") == "" and call.get("signature"):
                names = list(_spec_names("", json.loads(call["signature"]["out_spec"])[1]))
                if len(names) == count:
                    return tuple(names)
        return tuple(["output" if count == 1 else f"output_{index}" for index in range(count)])

    # ---- nodes

    def _node(self, index: int, node: Mapping) -> Node:
        target = self._target(node["target"])
        args, kwargs = self._arguments(target, node["inputs"])
        names, listed = self._results(node["outputs"])
        values = [self.graph["tensor_values"][name] for name in names]
        stack = node.get("metadata", {}).get("nn_module_stack", "").split(";")[-1].split(",")
        path, kind = (_path(stack[1]), stack[-1].rsplit(".", 1)[-1]) if len(stack) > 2 else ("", "Module")
        own = names[0] if not listed else f"node_{index}"
        for place, name in enumerate(names if listed else ()):
            self.scalars[name] = Ref(own, place)
        operation = str(target).split(".")[1]
        return Node(
            name=own,
            op=str(target),
            target=target,
            args=args,
            kwargs=kwargs,
            shapes=tuple([self._shape(name, value) for name, value in zip(names, values, strict=True)]),
            dtypes=tuple([_DTYPES[value["dtype"]] for value in values]),
            module=f"{path or 'the root module'} ({kind})",
            title=re.sub(r"\W", "_", f"{path}_{operation}".strip("_")),
        )

    def _results(self, outputs: Sequence) -> tuple[list[str], bool]:
        if len(outputs) == 1 and "as_tensor" in outputs[0]:
            return [outputs[0]["as_tensor"]["name"]], False
        names = []
        for output in outputs:
            names += [each["name"] for each in output["as_tensors"]] if "as_tensors" in output else [self._name(output)]
        return names, True

    def _target(self, name: str):
        found = re.fullmatch(r"torch\.ops\.(aten|prims)\.(\w+)\.(\w+)", name)
        if not found:
            flow = "control flow" if "higher_order" in name else "neither of aten nor of prims"
            raise ExportedProgramError(f"{self.file} calls {name}, which is {flow} and cannot be lowered")
        namespace, operation, overload = found.groups()
        packet = getattr(getattr(torch.ops, namespace), operation, None)
        if packet is None or not hasattr(packet, overload):
            raise ExportedProgramError(f"{self.file} calls {name}, which torch {torch.__version__} does not have")
        return getattr(packet, overload)

    def _arguments(self, target, inputs: Sequence) -> tuple[tuple, dict]:
        given = {each["name"]: self._value(each["arg"]) for each in inputs}
        args, kwargs = [], {}
        wanted = [each for each in target._schema.arguments if not each.kwarg_only]
        last = max((place for place, each in enumerate(wanted) if each.name in given), default=-1)
        for each in wanted[: last + 1]:
            args.append(given.pop(each.name) if each.name in given else each.default_value)
        kwargs.update(given)
        return tuple(args), kwargs

    def _value(self, argument: Mapping):
        ((kind, value),) = argument.items()
        if kind == "as_tensor":
            return self._ref(argument)
        if kind in ("as_tensors", "as_nested_tensors"):
            return [self._ref({"as_tensor": each}) for each in value]
        if kind == "as_optional_tensors":
            return [None if "as_none" in each else self._ref({"as_tensor": each["as_tensor"]}) for each in value]
        if kind == "as_none":
            return None
        if kind in ("as_int", "as_float", "as_bool", "as_string", "as_ints", "as_floats", "as_bools"):
            return float(value) if kind == "as_float" else value
        if kind == "as_scalar_type":
            return _DTYPES[value]
        if kind in ("as_memory_format", "as_layout", "as_device"):
            return None
        raise ExportedProgramError(
            f"{self.file} has an argument of kind {kind} ({value}): sizes that are not fixed cannot be lowered"
        )

    def _ref(self, argument: Mapping) -> Ref:
        name = self._name(argument)
        return self.scalars.get(name, Ref(name))

    def _name(self, argument: Mapping) -> str:
        if "as_tensor" not in argument:
            ((kind, value),) = argument.items()
            raise ExportedProgramError(f"{self.file} takes or gives {value!r} ({kind}); only tensors can be lowered")
        return argument["as_tensor"]["name"]

    def _shape(self, name: str, value: Mapping) -> tuple[int, ...]:
        sizes = []
        for axis, size in enumerate(value["sizes"]):
            if "as_int" not in size:
                raise ExportedProgramError(
                    f"axis {axis} of {name} has no fixed size ({size}): export the module for fixed shapes"
                )
            sizes.append(size["as_int"])
        return tuple(sizes)


def _path(source: str) -> str:
    """``blocks.0.conv`` of ``L['self'].blocks[0].conv``."""
    path = re.sub(r"^L\['\w+'\]\.?", "", source)
    path = re.sub(r"\._modules\['(\w+)'\]|\[['\"]?(\w+)['\"]?\]", lambda m: f".{m.group(1) or m.group(2)}", path)
    return re.sub(r"slice\(None, \d+, None\)|getattr\(.*", "", path).strip(".")


def _spec_names(name: str, spec: Mapping):
    kind, children = spec["type"], spec["children_spec"]
    if kind is None:
        yield name or "output"
        return
    context = json.loads(spec["context"]) if spec.get("context") else None
    keys = context if kind.endswith("dict") and isinstance(context, list) else range(len(children))
    for key, child in zip(keys, children, strict=True):
        alone = len(children) == 1 and not kind.endswith("dict")
        own = name if alone else f"{name}_{key}" if name else str(key) if kind.endswith("dict") else f"output_{key}"
        yield from _spec_names(own, child)


_VIEWS = ("view", "reshape", "transpose", "permute", "slice", "select", "expand", "unsqueeze", "squeeze", "t", "chunk")


def _functional(file: str, nodes: Sequence[Node]) -> tuple[list[Node], dict[str, Ref]]:
    """Operations in place as operations that make a tensor, read by everyone who reads the changed one afterwards.

    Given: ``relu_``(x), ``add``(x, 1). Result: ``relu``(x), ``add``(relu, 1). Refuses it for a tensor that shares its
    memory with another, which would have to change too.
    """
    renamed: dict[str, Ref] = {}
    shared: set[str] = set()
    found = []
    for node in nodes:

        def now(argument):
            return renamed.get(argument.name, argument) if isinstance(argument, Ref) else argument

        read = refs((node.args, node.kwargs))
        node = replace(node, args=mapped(node.args, now), kwargs=mapped(node.kwargs, now))
        operation, overload = node.op.split(".")[1:3]
        if operation in _VIEWS:
            shared.update([node.name, *(ref.name for ref in read)])
        if node.target._schema.is_mutable:
            changed = node.args[0]
            plain = getattr(torch.ops.aten, operation.removesuffix("_"), None)
            if changed.name in shared or plain is None or not hasattr(plain, overload):
                raise ExportedProgramError(
                    f"{file} changes a tensor in place ({node.op} of {node.module}): call run_decompositions() "
                    "on the program before it is saved"
                )
            target = getattr(plain, overload)
            node = replace(node, op=str(target), target=target)
            renamed[read[0].name] = Ref(node.name)
        found.append(node)
    return found, renamed
