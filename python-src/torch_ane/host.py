"""What Java calls: plain arguments, plain answers. The signatures are :class:`torch_ane.sinks.ExporterModule`."""

import json
import platform
from collections.abc import Sequence

import torch
import transformers

from .llm import CausalLMExport, Options
from .llm._reference import eager_logits as _eager_logits
from .loading import load_causal_lm as _load_causal_lm
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


def eager_logits(model: torch.nn.Module, ids: Sequence[int]) -> torch.Tensor:
    """The logits [vocab] after the last of ``ids``, fp32, by transformers alone."""
    return _eager_logits(model, [int(each) for each in ids])
