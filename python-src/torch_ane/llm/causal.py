"""A causal model from transformers as ``prefill_M``, ``decode_M`` and ``batch_M`` functions over shared weights.

The model is not rewritten. It is traced in two parts, each in the model's own code: the skeleton (everything but the
decoder layers, which leave marks) and one layer of each kind. Lowering puts a layer's graph, with that layer's weights,
at every mark. What was traced is compared with transformers before anything is sent: each layer on its own, and the
whole model over two windows with state.
"""

import copy
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from ..export import weights_of
from ..passes import prepare
from ..sinks import ProgramSink, Progress, WeightSink
from ._check import check_layers, check_model, check_windows
from ._emit import send_function, send_weights, total_bytes
from ._manifest import manifest
from ._options import DECODE_Q, Options
from ._reference import Reference, reference_run
from ._rope import check_kinds, check_lengths, ropes_of
from ._samples import every_row, layer_example, one_hot, skeleton_example
from ._skeleton import INPUTS, Ropes, Skeleton, own_calls, ropes
from ._structure import LayerStep, UnsupportedModelError, signature, structure_of
from ._trace import SAMPLES, Traced

OPSET = "ios18"


@dataclass(frozen=True)
class Shape:
    """The numbers of a model that its functions' types are made of."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    max_position: int

    def state(self, columns: int, layers: int | None = None) -> tuple[int, ...]:
        """[layers, 1, kvHeads, columns, headDim]"""
        return (self.layers if layers is None else layers, 1, self.kv_heads, columns, self.head_dim)


def shape_of(config, reference: Reference) -> Shape:
    """From a text configuration, and what the model was seen to keep."""
    return Shape(
        hidden=config.hidden_size,
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        kv_heads=reference.kv_heads,
        head_dim=reference.head_dim,
        max_position=config.max_position_embeddings,
    )


@dataclass
class Kind:
    """Layers that share a trace: the indices, and the graph."""

    traced: Traced
    layers: list[int] = field(default_factory=list)


class CausalLMExport:
    """One model on its way into a program.

    Making it prepares, traces and checks; :meth:`send_weights` and then :meth:`send_functions` feed the sinks;
    :meth:`manifest` says what the program means to whoever runs it. Raises :class:`UnsupportedModelError` for a model
    that does not fit, and :class:`~torch_ane.export.ExportError` where a trace and the model disagree.
    """

    skeleton_class = Skeleton

    def __init__(self, model: torch.nn.Module, options: Options, progress: Progress):
        self.options, self._progress = options, progress
        self.stages: dict[str, float] = {}
        config = model.config.get_text_config()
        self.architecture, self.config = type(model).__name__, config
        check_kinds(config)
        limit = config.max_position_embeddings
        check_lengths(config, min(options.context(limit), limit))

        with self._stage("prepare", 0, ""):
            reference = reference_run(model, 2 * SAMPLES[0]["Q"])
            self.shape, self.embedding_multiplier = shape_of(config, reference), reference.embedding_multiplier
            self.window = options.window(self.shape.max_position)
            self.rungs = options.rungs(self.shape.max_position)
            lm = _sharing_copy(model)
            self.structure = structure_of(lm)
            ids = options.calibration_ids(reference.logits.shape[-1])
            self.prepared = prepare(lm, options.target, options.precision, self.structure.layers, ids)
            self.embedding_multiplier *= self.prepared.embedding
            self.ropes: Ropes = ropes(ropes_of(lm.get_submodule(self.structure.rotary), self.rungs[-1]))
            self.weights = weights_of(lm)
            self.skeleton_module = self.skeleton_class(lm, self.structure, self.ropes, reference.layers_answer_tuples)
        signatures = [signature(layer) for layer in self.skeleton_module.layers]
        with self._stage("trace", len(SAMPLES) * (1 + self.options.batch + len(set(signatures))), "graphs"):
            self._trace(lm, signatures)
        with self._stage("check", self.shape.layers, "layers"):
            self.difference = self._check(reference)

    # ---- tracing

    def _trace(self, lm: torch.nn.Module, signatures: list[tuple]) -> None:
        module = self.skeleton_module
        with own_calls(lm, module.given, self.ropes.all):
            self.skeleton = Traced(module, self._skeleton_example, self._progress)
            self.batch_skeleton = Traced(module, self._batch_example, self._progress) if self.options.batch else None
        read = self._read(self.skeleton.sample.uses())
        if "positions" in read:
            raise UnsupportedModelError(f"{self.architecture} uses positions for more than RoPE (learned embeddings?)")
        self.inputs = [name for name in INPUTS if name != "positions" and self._is_input(name, read)]
        self.sliding_window = self._sliding_window()

        self.kind_of: list[Kind] = []
        found: dict[tuple, Kind] = {}
        for index, layer in enumerate(module.layers):
            key = signatures[index], repr(module.marks[index].call)
            if key not in found:
                with own_calls(layer, None, self.ropes.all):
                    found[key] = Kind(Traced(self.step(index), self._layer_example, self._progress))
            found[key].layers.append(index)
            self.kind_of.append(found[key])
        self.kinds = list(found.values())

    @property
    def traces(self) -> list[Traced]:
        """Everything that was traced."""
        skeletons = [self.skeleton, *([self.batch_skeleton] if self.batch_skeleton else [])]
        return skeletons + [kind.traced for kind in self.kinds]

    def step(self, index: int) -> LayerStep:
        """A layer in the model's own code, as it was traced."""
        module = self.skeleton_module
        return LayerStep(module.layers[index], module.marks[index].call, self.shape.layers)

    def _skeleton_example(self, sizes) -> tuple:
        return skeleton_example(self.shape, self.ropes.all.dim, one_hot(sizes["Q"] - 1, sizes["Q"]), **sizes)

    def _batch_example(self, sizes) -> tuple:
        return skeleton_example(self.shape, self.ropes.all.dim, every_row(sizes["Q"]), **sizes)

    def _layer_example(self, sizes) -> tuple:
        return layer_example(self.shape, self.ropes.all, **sizes)

    def _read(self, uses: dict[str, int]) -> set[str]:
        return {name for name, given in zip(INPUTS, self.skeleton.sample.inputs, strict=True) if uses.get(given)}

    def _is_input(self, name: str, read: set[str]) -> bool:
        if name in ("cos_local", "sin_local"):
            return self.ropes.local is not None and bool(read & {"cos_local", "sin_local"})
        return name != "mask_local" or name in read

    def _sliding_window(self) -> int:
        if "mask_local" not in self.inputs:
            return 0
        window = getattr(self.config, "sliding_window", None)
        if not isinstance(window, int):
            raise UnsupportedModelError(f"{self.architecture} has sliding layers, but its sliding_window is {window!r}")
        return window

    # ---- checking

    def _check(self, reference: Reference) -> dict[str, float]:
        with own_calls(torch.nn.ModuleList(self.skeleton_module.layers), None, self.ropes.all):
            layers = check_layers(self, self._progress)
            windows = check_windows(self)
        return {"layers": layers, "windows": windows, "model": self._check_model(reference)}

    def _check_model(self, reference: Reference) -> float:
        worst = check_model(self, reference, self.skeleton.sample, one_hot)
        if self.batch_skeleton:
            batch = self.batch_skeleton.sample
            worst = max(worst, check_model(self, reference, batch, lambda _, rows: every_row(rows)))
        return worst

    def layer_weights(self, index: int):
        """The weights of a layer by the names its trace has for them."""
        prefix = f"{self.structure.layers}.{index}."
        return {"layer." + name[len(prefix) :]: t for name, t in self.weights.items() if name.startswith(prefix)}

    def skeleton_weights(self):
        """The weights outside layers by the names the skeleton's trace has for them."""
        return {"lm." + name: tensor for name, tensor in self.weights.items()}

    def is_number(self, name: str) -> bool:
        """Buffers of one element are written as literals."""
        return self.weights[name].numel() == 1 and not isinstance(self.weights[name], torch.nn.Parameter)

    # ---- sending

    def send_weights(self, sink: WeightSink) -> None:
        """Every weight once, the embedding first; a tied head is an alias of it."""
        with self._stage("weights", total_bytes(self), "bytes"):
            send_weights(self, sink, self._progress)

    def send_functions(self, sink: ProgramSink) -> None:
        """``prefill_M``, ``decode_M`` and, with the option, ``batch_M`` for each rung M."""
        for columns in self.rungs:
            for name, skeleton, rows in self.functions():
                function = f"{name}_{columns}"
                with self._stage(f"lower {function}", self.shape.layers, "layers"):
                    graph = skeleton.at(rows, columns)
                    send_function(self, sink.function(function, OPSET), graph, rows, columns, self._progress)

    def functions(self) -> list[tuple[str, Traced, int]]:
        """Name, skeleton and rows of the functions that each rung has."""
        kinds = [("prefill", self.skeleton, self.window), ("decode", self.skeleton, DECODE_Q)]
        return kinds + ([("batch", self.batch_skeleton, DECODE_Q)] if self.batch_skeleton else [])

    def manifest(self) -> dict:
        """What docs/architecture.md puts into ``manifest.json``, and a report of the build."""
        return manifest(self)

    @contextmanager
    def _stage(self, name: str, total: int, unit: str):
        self._progress.stage(name, total, unit)
        start = time.perf_counter()
        yield
        self.stages[name] = time.perf_counter() - start


def _sharing_copy(model: torch.nn.Module) -> torch.nn.Module:
    """A copy whose modules may be replaced, over the very same weights."""
    return copy.deepcopy(model, {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}).eval()
