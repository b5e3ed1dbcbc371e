"""What transformers itself computes, before anything is changed."""

from dataclasses import dataclass

import torch

from ._structure import UnsupportedModelError, structure_of


@dataclass(frozen=True)
class Reference:
    """A run of the model as it came: ids, the logits after each, and what was seen on the way."""

    ids: torch.Tensor  # [tokens]
    embeddings: torch.Tensor  # [1, tokens, hidden], as the embedding module answers them
    logits: torch.Tensor  # [tokens, vocab]
    layers_answer_tuples: bool
    embedding_multiplier: float
    kv_heads: int
    head_dim: int


@torch.no_grad()
def reference_run(model: torch.nn.Module, tokens: int) -> Reference:
    """Runs the model on some of its tokens."""
    structure = structure_of(model)
    _only_attention(model)
    embedding = model.get_submodule(structure.embedding)
    rows = embedding.weight.shape[0]
    ids = torch.tensor([(7919 * n + 11) % rows for n in range(tokens)])
    tuples = []
    layer = model.get_submodule(structure.layers)[0]
    hook = layer.register_forward_hook(lambda _m, _a, out: tuples.append(isinstance(out, tuple)))
    try:
        out = model(input_ids=ids[None], use_cache=True)
    finally:
        hook.remove()
    embedded = embedding(ids[None])
    multiplier = _multiplier(embedding, ids, embedded)
    kv_heads, head_dim = _kept(model, out)
    return Reference(ids, embedded, out.logits[0], tuples[0], multiplier, kv_heads, head_dim)


def _only_attention(model: torch.nn.Module) -> None:
    """Refuses layers whose state is no keys and values, before they fail in ways of their own."""
    types = getattr(model.config.get_text_config(), "layer_types", None) or []
    others = sorted({kind for kind in types if not kind.endswith("attention") or kind == "linear_attention"})
    if others:
        raise UnsupportedModelError(
            f"{type(model).__name__} has layers of {', '.join(map(repr, others))}; "
            "layers that keep keys and values are supported"
        )


def _kept(model: torch.nn.Module, out) -> tuple[int, int]:
    """Key heads and their size, as the model itself fills a cache; all layers must agree."""
    cache = getattr(out, "cache", None) or getattr(out, "past_key_values", None)
    layers = getattr(cache, "layers", None) or []
    kept = {tuple(t.shape[axis] for axis in (0, 1, 3)) for layer in layers for t in _tensors(layer)}
    if len(layers) != model.config.get_text_config().num_hidden_layers or len(kept) != 1:
        shapes = sorted({tuple(t.shape) for layer in layers for t in _tensors(layer)})
        raise UnsupportedModelError(
            f"{type(model).__name__} fills {len(layers)} cache layers with shapes {shapes}; "
            "keys and values of one shape in every layer are needed"
        )
    ((_, heads, size),) = kept
    return heads, size


def _tensors(layer) -> list[torch.Tensor]:
    both = (getattr(layer, "keys", None), getattr(layer, "values", None))
    return [t for t in both if isinstance(t, torch.Tensor) and t.ndim == 4]


def _multiplier(embedding: torch.nn.Module, ids: torch.Tensor, embedded: torch.Tensor) -> float:
    """The factor between an embedding module's answer and its table: 1, or Gemma's scale."""
    rows = embedding.weight[ids][None]
    scale = getattr(embedding, "embed_scale", 1.0)
    scale = float(scale.to(embedding.weight.dtype)) if isinstance(scale, torch.Tensor) else float(scale)
    for factor in (scale, 1.0):
        if torch.equal(rows * factor, embedded):
            return factor
    raise UnsupportedModelError(f"{type(embedding).__name__} does more than look up rows and scale them")


@torch.no_grad()
def eager_logits(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    """The logits [vocab] after the last token, by transformers alone."""
    return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].float().contiguous()
