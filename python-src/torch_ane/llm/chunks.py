"""A causal model as programs of some layers each, from a template instead of its weights.

The template (:func:`torch_ane.loading.template_causal_lm`) has the model's own code and shapes, but for the width of
its MLPs and its vocabulary, on which no operation but matrix products depends; what its weights hold is made up, and
layers share it. So tracing and checking take little memory however large the model is. Programs come out with the
template's types; whoever binds the checkpoint's weights infers them anew.
"""

from dataclasses import replace

import torch

from ..graph import Graph, Node, Ref, mapped, refs
from ..loading import template_sample
from ..sinks import ProgramSink, Progress
from ._emit import Part, send_function, sent_names
from ._options import Options
from ._skeleton import Skeleton
from ._structure import UnsupportedModelError
from .causal import OPSET, CausalLMExport

_LAYER = "torch_ane.layer.default"
_OFFSETS = (0.0, 1.0)
"""What a pass may add to a weight: Gemma's norms multiply by one more than they keep."""


class AnyVocabulary(Skeleton):
    """A skeleton whose graph has no number that comes from the vocabulary's size."""

    @staticmethod
    def rows(logits: torch.Tensor) -> torch.Tensor:
        return logits.squeeze(0)


class ChunkedExport(CausalLMExport):
    """A template on its way into chunks: some layers each (:meth:`send_layers`), and the head (:meth:`send_head`).

    The embedding is outside, as ever. A chunk has the functions of the whole model over the same windows, each from
    ``emb`` (what the layers before it answer) to ``hidden`` of the same type, with states of its own layers; the head
    goes on to ``logits``.
    """

    skeleton_class = AnyVocabulary

    def __init__(self, template: torch.nn.Module, options: Options, progress: Progress):
        super().__init__(template, options, progress)
        self.samples: dict[str, torch.Tensor] = template.template_samples

    def send_layers(self, sink: ProgramSink, first: int, count: int) -> None:
        """The functions of ``count`` layers from ``first`` on."""
        self._send(sink, Part(first, count, "hidden"))

    def send_head(self, sink: ProgramSink) -> None:
        """The functions of what comes behind the last layer."""
        self._send(sink, Part(self.shape.layers, 0))

    def _send(self, sink: ProgramSink, part: Part) -> None:
        end = None if part.output == "logits" else part.first + part.layers
        for columns in self.rungs:
            for name, skeleton, rows in self.functions():
                graph = cut(skeleton.at(rows, columns), part.first, end)
                target = sink.function(f"{name}_{columns}", OPSET)
                send_function(self, target, graph, rows, columns, self._progress, part)

    def describe(self) -> dict:
        """The manifest, and what binding needs: ``kinds`` (layers of equal numbers have equal programs), ``layers``
        (where they are in the model), ``weights`` (each with what it is in the checkpoint: its ``source`` there)."""
        numbers = {id(kind): number for number, kind in enumerate(self.kinds)}
        return {
            **self.manifest(),
            "kinds": [numbers[id(kind)] for kind in self.kind_of],
            "layers": self.structure.layers,
            "head": self.structure.head + ".weight",
            "weights": [self._describe(name, role) for name, role in sent_names(self).items()],
        }

    def _describe(self, name: str, role: str) -> dict:
        head, embedding = self.structure.head + ".weight", self.structure.embedding + ".weight"
        special = {head: "head", embedding: "embedding"}
        tensor = self.weights[name].detach()
        tied = name == head and tensor.data_ptr() == self.weights[embedding].data_ptr()
        source = embedding if tied else name
        if source not in self.samples:
            raise UnsupportedModelError(f"passes made a weight {name} that no checkpoint has: build the model as one")
        factor, offset = _change(source, template_sample(tensor), self.samples[source])
        return {
            "name": name,
            "source": source,
            "role": special.get(name, role),
            "shape": [int(size) for size in tensor.shape],
            "factor": factor,
            "offset": offset,
        }


def _change(name: str, tensor: torch.Tensor, plain: torch.Tensor) -> tuple[float, float]:
    """What passes made of a weight: ``factor`` (a power of two) times the checkpoint's value plus ``offset``."""
    for offset in _OFFSETS:
        factor = float(2.0 ** torch.log2(tensor.abs().sum() / (plain + offset).abs().sum()).round())
        if torch.allclose(tensor, factor * (plain + offset), rtol=1e-6, atol=1e-7):
            return factor, factor * offset
    raise UnsupportedModelError(
        f"weight {name} is not the checkpoint's any more, nor a power of two times it: models whose weights are "
        "changed otherwise are built as one program"
    )


def cut(graph: Graph, first: int, end: int | None) -> Graph:
    """Some layers of a skeleton.

    Given:  the whole model's skeleton: operations, a mark for each layer, operations.
    Result: what leads from the input of layer ``first`` (which becomes the graph's first input) to the result of layer
    ``end - 1``, or to the graph's own output where ``end`` is None.

    Raises :class:`UnsupportedModelError` for a model whose later layers read more than the one before gave them.
    """
    marks = [node for node in graph.nodes if node.op == _LAYER]
    source, nodes = Ref(graph.inputs[0]), graph.nodes
    if first > 0:
        given = Ref(marks[first - 1].name)
        nodes = tuple(_reading(node, given, source) for node in nodes)
    outputs = graph.outputs if end is None else (Ref(marks[end - 1].name),)
    outputs = tuple(source if ref == Ref(marks[first - 1].name) and first > 0 else ref for ref in outputs)
    kept = _needed(nodes, outputs)
    nodes = tuple(node for node in nodes if node.name in kept)
    before = {node.name for node in nodes if node.op == _LAYER} - {mark.name for mark in marks[first:end]}
    inherited = {node.name for node in graph.nodes if source in refs((node.args, node.kwargs))}
    if before or (first > 0 and inherited & kept):
        raise UnsupportedModelError(
            f"behind layer {first - 1} the model reads more than that layer's result "
            f"({', '.join(sorted(before or inherited & kept))}): it cannot be cut there"
        )
    return replace(graph, nodes=nodes, outputs=outputs)


def _reading(node: Node, given: Ref, instead: Ref) -> Node:
    def change(leaf):
        return instead if leaf == given else leaf

    return replace(node, args=mapped(node.args, change), kwargs=mapped(node.kwargs, change))


def _needed(nodes, outputs) -> set[str]:
    kept = {ref.name for ref in outputs}
    for node in reversed(nodes):
        if node.name in kept:
            kept |= {ref.name for ref in refs((node.args, node.kwargs))}
    return kept
