"""Operations that stay whole from a model's code to its program.

Passes put them where a model computes RMSNorm, RoPE and attention its own way, and where it keeps keys and values. Each
has a plain implementation, so that a prepared model still runs eagerly, and lowering knows each by name.
"""

import torch

_library = torch.library.Library("torch_ane", "FRAGMENT")


def _operation(schema: str, fake):
    """Registers the decorated plain implementation of ``schema``, with the shape function that tracing uses."""

    def register(function):
        name = schema.split("(")[0]
        _library.define(schema)
        _library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake(f"torch_ane::{name}", fake)
        return function

    return register


@_operation(
    "rms_norm(Tensor x, Tensor weight, float epsilon) -> Tensor", lambda x, weight, epsilon: torch.empty_like(x)
)
def rms_norm(x, weight, epsilon):
    """``x / sqrt(mean(x²) + epsilon) · weight`` over the last axis (Zhang and Sennrich, 2019)."""
    wide = x.float()
    normal = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return weight * normal.to(x.dtype)


@_operation("rope(Tensor x, Tensor cos, Tensor sin) -> Tensor", lambda x, cos, sin: torch.empty_like(x))
def rope(x, cos, sin):
    """Rotates ``x`` [1, heads, rows, dim] by ``cos`` and ``sin`` [1, 1, rows, dim], halves paired as in GPT-NeoX."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def _sdpa_shape(query, key, value, mask, scale):
    return query.new_empty((*query.shape[:-1], value.shape[-1]))


@_operation("sdpa(Tensor query, Tensor key, Tensor value, Tensor mask, float scale) -> Tensor", _sdpa_shape)
def sdpa(query, key, value, mask, scale):
    """Attention of ``query`` [1, heads, rows, dim] over ``key`` and ``value`` [1, kvHeads, columns, dim], additive
    ``mask`` [1, 1, rows, columns]; consecutive query heads share a key head."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scores = torch.matmul(query * scale, key.transpose(-1, -2)) + mask
    return torch.matmul(scores.softmax(-1), value)


@_operation(
    "kv_write(Tensor cache, Tensor new, int layer, Tensor step) -> Tensor",
    lambda cache, new, layer, step: torch.empty_like(cache),
)
def kv_write(cache, new, layer, step):
    """``cache`` [layers, 1, kvHeads, columns, dim] with ``new`` [1, 1, kvHeads, rows, dim] from column ``step`` on."""
    column = int(step.reshape(-1)[0])
    written = cache.clone()
    written[layer : layer + 1, :, :, column : column + new.shape[3]] = new.to(cache.dtype)
    return written


@_operation(
    "kv_read(Tensor cache, int layer) -> Tensor",
    lambda cache, layer: cache.new_empty(cache.shape[1:]),
)
def kv_read(cache, layer):
    """One layer's [1, kvHeads, columns, dim] of the cache."""
    return cache[layer].clone()


@_operation(
    "layer(Tensor hidden, Tensor? cos, Tensor? sin, Tensor? mask, int index) -> Tensor",
    lambda hidden, cos, sin, mask, index: torch.empty_like(hidden),
)
def layer(hidden, cos, sin, mask, index):
    """Marks where decoder layer ``index`` goes in a model that is traced without its layers: passes ``hidden`` on."""
    return hidden.clone()
