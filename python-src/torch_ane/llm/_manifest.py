"""What a program means, for whoever runs it."""

from ._options import DECODE_Q


def manifest(export) -> dict:
    """The parts of ``manifest.json`` that only the exporter knows (docs/architecture.md), and a report of the build."""
    return {
        "model": _model(export),
        "rope": {"global": _rope(export.ropes.all), "local": _rope(export.ropes.local)},
        "embedding": _embedding(export),
        "rowAxes": {name: 2 if name.startswith("mask") else 1 for name in export.inputs},
        "report": {
            "stages": {name: round(seconds, 3) for name, seconds in export.stages.items()},
            "passes": export.prepared.changes,
            "scales": _scales(export),
            "kinds": len(export.kinds),
            "traces": sum(traced.traces for traced in export.traces),
            "maxDifference": export.difference,
        },
    }


def _model(export) -> dict:
    config, shape = export.config, export.shape
    eos = config.eos_token_id
    return {
        "architecture": export.architecture,
        "vocab": _vocab(export),
        "hidden": shape.hidden,
        "layers": shape.layers,
        "heads": shape.heads,
        "kvHeads": shape.kv_heads,
        "headDim": shape.head_dim,
        "maxPosition": shape.max_position,
        "maxLen": min(export.rungs[-1], shape.max_position),
        "prefillWindow": export.window,
        "decodeWindow": DECODE_Q,
        "ladder": list(export.rungs),
        "slidingWindow": export.sliding_window,
        "eos": [] if eos is None else [eos] if isinstance(eos, int) else list(eos),
        "bos": config.bos_token_id,
    }


def _vocab(export) -> int:
    return export.weights[export.structure.head + ".weight"].shape[0]


def _embedding(export) -> dict:
    name = export.structure.embedding + ".weight"
    rows, columns = export.weights[name].shape
    return {"weight": name, "rows": rows, "columns": columns, "multiplier": export.embedding_multiplier}


def _rope(rope) -> dict | None:
    if rope is None:
        return None
    frequencies = [float(each) for each in rope.frequencies]
    return {"dim": rope.dim, "inverseFrequencies": frequencies, "attentionScaling": rope.scaling}


def _scales(export) -> dict | None:
    """Exponents of two by which activations are kept in fp16, and what they were chosen from."""
    scales = export.prepared.scales
    if scales is None:
        return None
    return {
        "calibration": "text" if export.options.calibration else "fixed ids",
        "tokens": len(export.options.calibration_ids(_vocab(export))),
        "largest": scales.largest,
        "stream": scales.stream,
        "mlp": list(scales.mlp),
        "attention": list(scales.attention),
        **({"streamKept": scales.stream_kept} if scales.stream_kept else {}),
    }
