"""Is what was traced what the model computes? Numbers, before anything is sent."""

import torch

from ..export import compare
from ._samples import layer_example, mask
from ._skeleton import INPUTS
from ._trace import SAMPLES

LAYER_TOLERANCE = 1e-5
MODEL_TOLERANCE = 1e-4


@torch.no_grad()
def check_layers(export, progress) -> float:
    """Each layer's own code against its kind's graph with its weights."""
    worst, sizes = 0.0, SAMPLES[0]
    for index, kind in enumerate(export.kind_of):
        inputs = layer_example(export.shape, export.ropes.all, **sizes, start=3)
        found = kind.traced.sample.run(inputs, export.layer_weights(index))
        expected = export.step(index)(*inputs)
        worst = max(worst, compare(f"layer {index}'s trace", found, expected, LAYER_TOLERANCE))
        progress.done(1)
    return worst


@torch.no_grad()
def check_windows(export) -> float:
    """One layer of each kind, in the shapes that the program's functions will have."""
    worst = 0.0
    for kind in export.kinds:
        index = kind.layers[0]
        step, weights = export.step(index), export.layer_weights(index)
        for columns in export.rungs:
            for rows in sorted({export.window, 8}):
                inputs = layer_example(export.shape, export.ropes.all, rows, columns)
                found = kind.traced.at(rows, columns).run(inputs, weights)
                what = f"layer {index}'s graph for {rows} rows over {columns} columns"
                worst = max(worst, compare(what, found, step(*inputs), LAYER_TOLERANCE))
    return worst


@torch.no_grad()
def check_model(export, reference, skeleton, pick) -> float:
    """The whole of it, two windows one after the other over the states, against transformers' own logits.

    ``pick(last row, rows)`` makes what the skeleton's graph was traced with: one row is compared, or every one.
    """
    rows, columns = SAMPLES[0]["Q"], SAMPLES[0]["M"]
    keys = [torch.zeros(export.shape.state(columns, 1)) for _ in export.kind_of]
    values = [each.clone() for each in keys]
    step = torch.zeros(1, dtype=torch.int32)

    def layer(hidden, cos, sin, mask, index):
        inputs = (hidden, cos, sin, mask, keys[index], values[index], step)
        graph = export.kind_of[index].traced.sample
        out, keys[index], values[index] = graph.run(inputs, export.layer_weights(index))
        return out

    worst = 0.0
    for start in (0, rows):
        step = torch.tensor([start], dtype=torch.int32)
        given = _window(export, reference, start, rows, columns, pick(rows - 1, rows))
        (found,) = skeleton.run(given, export.skeleton_weights(), {"torch_ane.layer.default": layer})
        expected = reference.logits[start + rows - len(found) : start + rows]
        what = f"the traced {export.architecture}, tokens {start} to {start + rows - 1},"
        worst = max(worst, compare(what, [found], [expected], MODEL_TOLERANCE))
    return worst


def _window(export, reference, start: int, rows: int, columns: int, pick) -> list[torch.Tensor]:
    positions = torch.arange(start, start + rows)
    cos, sin = export.ropes.all.rows(positions)
    cos_local, sin_local = (export.ropes.local or export.ropes.all).rows(positions)
    given = {
        "emb": reference.embeddings[:, start : start + rows] * export.prepared.embedding,
        "positions": positions[None],
        "cos": cos,
        "sin": sin,
        "cos_local": cos_local,
        "sin_local": sin_local,
        "mask": mask(rows, columns, start),
        "mask_local": mask(rows, columns, start, window=export.sliding_window or None),
        "pick": pick,
    }
    return [given[name] for name in INPUTS]
