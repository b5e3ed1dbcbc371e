"""A causal model from transformers as ``prefill_M`` and ``decode_M`` functions over shared weights.

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
from ..graph import Graph
from ..lowering import Context, Value, lower
from ..lowering.context import Function, StateRef
from ..lowering.table import roles
from ..passes import prepare
from ..sinks import ProgramSink, Progress, WeightSink
from ._check import check_layers, check_model, check_windows
from ._options import DECODE_Q, Options
from ._reference import Reference, reference_run
from ._rope import check_kinds, ropes_of
from ._samples import layer_example, skeleton_example
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

    def __init__(self, model: torch.nn.Module, options: Options, progress: Progress):
        self.options, self._progress = options, progress
        self.stages: dict[str, float] = {}
        config = model.config.get_text_config()
        self.architecture, self.config = type(model).__name__, config
        check_kinds(config)

        with self._stage("prepare", 0, ""):
            reference = reference_run(model, 2 * SAMPLES[0]["Q"])
            self.shape, self.embedding_multiplier = shape_of(config, reference), reference.embedding_multiplier
            self.window = options.window(self.shape.max_position)
            self.rungs = options.rungs(self.shape.max_position)
            lm = _sharing_copy(model)
            self.structure = structure_of(lm)
            self.changes = prepare(lm, options.target)
            self.ropes: Ropes = ropes(ropes_of(lm.get_submodule(self.structure.rotary)))
            self.weights = weights_of(lm)
            self.skeleton_module = Skeleton(lm, self.structure, self.ropes, reference.layers_answer_tuples)
        signatures = [signature(layer) for layer in self.skeleton_module.layers]
        with self._stage("trace", len(SAMPLES) * (1 + len(set(signatures))), "graphs"):
            self._trace(lm, signatures)
        with self._stage("check", self.shape.layers, "layers"):
            self.difference = self._check(lm, reference)

    # ---- tracing

    def _trace(self, lm: torch.nn.Module, signatures: list[tuple]) -> None:
        module = self.skeleton_module
        with own_calls(lm, module.given, self.ropes.all):
            self.skeleton = Traced(module, self._skeleton_example, self._progress)
        read = self._read(self.skeleton.sample.uses())
        if "positions" in read:
            raise UnsupportedModelError(f"{self.architecture} uses positions for more than RoPE (learned embeddings?)")
        self.inputs = [name for name in INPUTS if name != "positions" and self._is_input(name, read)]

        self.kind_of: list[Kind] = []
        found: dict[tuple, Kind] = {}
        for index, layer in enumerate(module.layers):
            key = signatures[index], repr(module.marks[index].call)
            if key not in found:
                with own_calls(layer, None, self.ropes.all):
                    found[key] = Kind(Traced(self._step(index), self._layer_example, self._progress))
            found[key].layers.append(index)
            self.kind_of.append(found[key])
        self.kinds = list(found.values())

    def _step(self, index: int) -> LayerStep:
        module = self.skeleton_module
        return LayerStep(module.layers[index], module.marks[index].call, self.shape.layers)

    def _skeleton_example(self, sizes) -> tuple:
        return skeleton_example(self.shape, self.ropes.all.dim, **sizes)

    def _layer_example(self, sizes) -> tuple:
        return layer_example(self.shape, self.ropes.all, **sizes)

    def _read(self, uses: dict[str, int]) -> set[str]:
        return {name for name, given in zip(INPUTS, self.skeleton.sample.inputs, strict=True) if uses.get(given)}

    def _is_input(self, name: str, read: set[str]) -> bool:
        if name in ("cos_local", "sin_local"):
            return self.ropes.local is not None and bool(read & {"cos_local", "sin_local"})
        return name != "mask_local" or name in read

    # ---- checking

    def _check(self, lm: torch.nn.Module, reference) -> dict[str, float]:
        with own_calls(torch.nn.ModuleList(self.skeleton_module.layers), None, self.ropes.all):
            layers = check_layers(self, self._progress)
            windows = check_windows(self)
        return {"layers": layers, "windows": windows, "model": check_model(self, reference)}

    def layer_weights(self, index: int):
        """The weights of a layer by the names its trace has for them."""
        prefix = f"{self.structure.layers}.{index}."
        return {"layer." + name[len(prefix) :]: t for name, t in self.weights.items() if name.startswith(prefix)}

    def skeleton_weights(self):
        """The weights outside layers by the names the skeleton's trace has for them."""
        return {"lm." + name: tensor for name, tensor in self.weights.items()}

    # ---- sending

    def send_weights(self, sink: WeightSink) -> None:
        """Every weight once, the embedding first; a tied head is an alias of it."""
        embedding = self.structure.embedding + ".weight"
        role = self._roles()
        names = [embedding, *(name for name in role if name != embedding)]
        total = sum(self.weights[name].numel() * 4 for name in names)
        sent: dict[tuple, str] = {}
        with self._stage("weights", total, "bytes"):
            for name in names:
                tensor = self.weights[name].detach()
                key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride())
                if key in sent:
                    sink.alias(name, sent[key])
                else:
                    sent[key] = name
                    data = tensor.float().contiguous()
                    size = data.numel() * 4
                    role_ = "embedding" if name == embedding else role[name]
                    sink.tensor(name, "fp32", [int(n) for n in data.shape], data.data_ptr(), size, role_)
                self._progress.done(tensor.numel() * 4)

    def _roles(self) -> dict[str, str]:
        role = {name.removeprefix("lm."): r for name, r in roles(self.skeleton.sample).items()}
        for index, kind in enumerate(self.kind_of):
            prefix = f"{self.structure.layers}.{index}."
            for name, r in roles(kind.traced.sample).items():
                role[prefix + name.removeprefix("layer.")] = r
        return {name: r for name, r in role.items() if not self._is_number(name)}

    def _is_number(self, name: str) -> bool:
        """Buffers of one element are written as literals."""
        return self.weights[name].numel() == 1 and not isinstance(self.weights[name], torch.nn.Parameter)

    def send_functions(self, sink: ProgramSink) -> None:
        """``prefill_M`` and ``decode_M`` for each rung M."""
        for columns in self.rungs:
            for name, rows in (("prefill", self.window), ("decode", DECODE_Q)):
                with self._stage(f"lower {name}_{columns}", self.shape.layers, "layers"):
                    self._function(sink, f"{name}_{columns}", rows, columns)

    def _function(self, program: ProgramSink, name: str, rows: int, columns: int) -> None:
        sink, precision = program.function(name, OPSET), self.options.precision
        function = Function(sink, precision)
        values: dict[str, Value] = {}
        for given in self.inputs:
            if given == "pick":
                values["step"] = Value(sink.input("step", "int32", [1]), (1,))
            shape = self._input_shape(given, rows, columns)
            values[given] = Value(sink.input(given, precision, list(shape)), shape)
        state = self.shape.state(columns)
        keys, values_ = (
            StateRef(sink.state(each, precision, list(state)), state) for each in ("key_cache", "value_cache")
        )

        def weight(full: str):
            tensor = self.weights[full]
            if self._is_number(full):
                return tensor.item()
            return Value(sink.weight(full), tuple(tensor.shape))

        def inline(index: int, hidden: Value, given) -> Value:
            context = Context(function, prefix=f"layers_{index}_", layer=index)
            prefix = f"{self.structure.layers}.{index}."
            graph: Graph = self.kind_of[index].traced.at(rows, columns)
            inputs = [hidden, *given, keys, values_, values["step"]]
            out, _, _ = lower(context, graph, inputs, lambda n: weight(prefix + n.removeprefix("layer.")))
            self._progress.done(1)
            return out

        context = Context(function, inline=inline)
        graph = self.skeleton.at(rows, columns)
        inputs = [values.get(given) for given in INPUTS]
        (logits,) = lower(context, graph, inputs, lambda n: weight(n.removeprefix("lm.")))
        sink.done({"logits": logits.handle})

    def _input_shape(self, name: str, rows: int, columns: int) -> tuple[int, ...]:
        if name.startswith(("cos", "sin")):
            return (1, rows, self.ropes.all.dim)
        if name.startswith("mask"):
            return (1, 1, rows, columns)
        return {"emb": (1, rows, self.shape.hidden), "pick": (1, rows)}[name]

    # ---- describing

    def manifest(self) -> dict:
        """What docs/architecture.md puts into ``manifest.json``, and a report of the build."""
        config, shape = self.config, self.shape
        sliding = "mask_local" in self.inputs
        window = getattr(config, "sliding_window", None)
        if sliding and not isinstance(window, int):
            raise UnsupportedModelError(f"{self.architecture} has sliding layers, but its sliding_window is {window!r}")
        embedding = self.weights[self.structure.embedding + ".weight"]
        head = self.weights[self.structure.head + ".weight"]
        eos = config.eos_token_id
        return {
            "model": {
                "architecture": self.architecture,
                "vocab": head.shape[0],
                "hidden": shape.hidden,
                "layers": shape.layers,
                "heads": shape.heads,
                "kvHeads": shape.kv_heads,
                "headDim": shape.head_dim,
                "maxPosition": shape.max_position,
                "maxLen": self.rungs[-1],
                "prefillWindow": self.window,
                "decodeWindow": DECODE_Q,
                "ladder": list(self.rungs),
                "slidingWindow": window if sliding else 0,
                "eos": [] if eos is None else [eos] if isinstance(eos, int) else list(eos),
                "bos": config.bos_token_id,
            },
            "rope": {"global": _rope_json(self.ropes.all), "local": _rope_json(self.ropes.local)},
            "embedding": {
                "weight": self.structure.embedding + ".weight",
                "rows": embedding.shape[0],
                "columns": embedding.shape[1],
                "multiplier": self.embedding_multiplier,
            },
            "rowAxes": {name: 2 if name.startswith("mask") else 1 for name in self.inputs},
            "report": {
                "stages": {name: round(seconds, 3) for name, seconds in self.stages.items()},
                "passes": self.changes,
                "kinds": len(self.kinds),
                "traces": 2 * (1 + len(self.kinds)),
                "maxDifference": self.difference,
            },
        }

    @contextmanager
    def _stage(self, name: str, total: int, unit: str):
        self._progress.stage(name, total, unit)
        start = time.perf_counter()
        yield
        self.stages[name] = time.perf_counter() - start


def _rope_json(rope) -> dict | None:
    if rope is None:
        return None
    frequencies = [float(each) for each in rope.frequencies]
    return {"dim": rope.dim, "inverseFrequencies": frequencies, "attentionScaling": rope.scaling}


def _sharing_copy(model: torch.nn.Module) -> torch.nn.Module:
    """A copy whose modules may be replaced, over the very same weights."""
    return copy.deepcopy(model, {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}).eval()
