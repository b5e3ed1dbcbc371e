"""What Java calls: plain arguments, plain answers. The signatures are :class:`torch_ane.sinks.ExporterModule`."""

import ctypes
import json
import platform
from collections.abc import Sequence

import torch
import transformers

from .llm import CausalLMExport, Options
from .llm._reference import eager_logits as _eager_logits
from .llm.chunks import ChunkedExport
from .loading import load_causal_lm as _load_causal_lm
from .loading import template_causal_lm
from .module import LoadedModule, ModuleExport
from .module import load as _load
from .module._export import run as _run
from .passes import PASSES_VERSION
from .sinks import Checkpoint, ProgramSink, Progress, WeightSink


def versions() -> str:
    """JSON: the versions that shape an export."""
    return json.dumps(
        {
            "passes": PASSES_VERSION,
            "torch": torch.__version__.split("+")[0],
            "transformers": transformers.__version__,
            "python": platform.python_version(),
        }
    )


def load_causal_lm(config_json: str, checkpoint: Checkpoint) -> torch.nn.Module:
    """A model over the checkpoint's memory."""
    return _load_causal_lm(str(config_json), checkpoint)


def export_causal_lm(
    model: torch.nn.Module, options_json: str, program: ProgramSink, weights: WeightSink, progress: Progress
) -> str:
    """Lowers the model into the sinks; answers JSON for the manifest."""
    export = CausalLMExport(model, Options.from_json(str(options_json)), progress)
    export.send_weights(weights)
    export.send_functions(program)
    return json.dumps(export.manifest())


def begin_chunks(config_json: str, options_json: str, progress: Progress) -> ChunkedExport:
    """A configuration's template, traced and checked."""
    return ChunkedExport(template_causal_lm(str(config_json)), Options.from_json(str(options_json)), progress)


def describe_chunks(export: ChunkedExport) -> str:
    """JSON: the manifest, and the layers' kinds and all weights for whoever binds them."""
    return json.dumps(export.describe())


def send_layers(export: ChunkedExport, program: ProgramSink, first: int, count: int) -> None:
    """Lowers some layers."""
    export.send_layers(program, int(first), int(count))


def send_head(export: ChunkedExport, program: ProgramSink) -> None:
    """Lowers what comes behind the layers."""
    export.send_head(program)


def eager_logits(model: torch.nn.Module, ids: Sequence[int]) -> torch.Tensor:
    """The logits [vocab] after the last of ``ids``, fp32, by transformers alone."""
    return _eager_logits(model, [int(each) for each in ids])


def load_module(source_json: str) -> LoadedModule:
    """A module from where Java says it is; a factory's code runs."""
    return _load(json.loads(str(source_json)))


def export_module(
    module: LoadedModule, options_json: str, program: ProgramSink, weights: WeightSink, progress: Progress
) -> str:
    """Lowers a module's functions into the sinks; answers JSON: seconds by stage, differences of the traces."""
    export = ModuleExport(module, json.loads(str(options_json)), progress)
    export.send_weights(weights)
    export.send_functions(program)
    return json.dumps(export.report())


class Results:
    """Tensors for Java, alive as long as this is: fp32, int32 or bool, contiguous."""

    def __init__(self, names: Sequence[str], tensors: Sequence[torch.Tensor]):
        self._names = list(names)
        self._tensors = [each.detach().to(_plain_type(each.dtype)).contiguous() for each in tensors]

    def describe(self) -> str:
        """JSON: name, type and shape of each."""
        types = {torch.float32: "fp32", torch.int32: "int32", torch.bool: "bool"}
        return json.dumps(
            [
                {"name": name, "dtype": types[each.dtype], "shape": list(each.shape)}
                for name, each in zip(self._names, self._tensors, strict=True)
            ]
        )

    def address(self, index: int) -> int:
        """Where a tensor begins in this process."""
        return self._tensors[int(index)].data_ptr()


def _plain_type(dtype: torch.dtype) -> torch.dtype:
    return torch.bool if dtype == torch.bool else torch.float32 if dtype.is_floating_point else torch.int32


def run_module(module: LoadedModule, inputs_json: str) -> Results:
    """What a module answers in torch to tensors of this process."""
    given = json.loads(str(inputs_json))
    return Results(*_run(module, [each["name"] for each in given], [_tensor_at(each) for each in given]))


def _tensor_at(described: dict) -> torch.Tensor:
    """A copy of a tensor that lies in this process, in the type that models are written for."""
    here, there = {
        "fp32": (torch.float32, torch.float32),
        "fp16": (torch.float16, torch.float32),
        "int32": (torch.int32, torch.int64),
        "bool": (torch.bool, torch.bool),
    }[described["dtype"]]
    count = 1
    for size in described["shape"]:
        count *= size
    memory = memoryview((ctypes.c_uint8 * (count * here.itemsize)).from_address(int(described["address"])))
    return torch.frombuffer(memory, dtype=here).reshape(described["shape"]).to(there, copy=True)
