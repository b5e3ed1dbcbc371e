"""Attention as one operation, through transformers' own choice of implementations."""

import torch

from .. import ops  # noqa: F401 - defines torch_ane::sdpa

NAME = "torch_ane"


def attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, softcap=None, **kwargs):
    """An attention implementation for transformers: [1, heads, rows, dim] to [1, rows, heads, dim].

    ``sliding_window`` is in the mask already. A cap on the scores is computed as the model says, in plain operations;
    attention sinks are refused.
    """
    if kwargs.get("s_aux") is not None:
        raise NotImplementedError(f"{type(module).__name__} uses attention sinks, which are not supported")
    if attention_mask is None:
        raise NotImplementedError(f"{type(module).__name__} attends without a mask, which is not supported")
    scale = float(query.shape[-1] ** -0.5 if scaling is None else scaling)
    if softcap is None:
        found = torch.ops.torch_ane.sdpa(query, key, value, attention_mask, scale)
    else:
        found = _capped(query, key, value, attention_mask, scale, softcap)
    return found.transpose(1, 2), None


def _capped(query, key, value, mask, scale, cap):
    _, heads, rows, dim = query.shape
    kv = key.shape[1]
    grouped = (query * scale).reshape(1, kv, heads // kv * rows, dim)
    scores = torch.tanh(torch.matmul(grouped, key.transpose(-1, -2)) / cap) * cap
    scores = scores.reshape(1, heads, rows, -1) + mask
    weights = scores.softmax(-1).reshape(1, kv, heads // kv * rows, -1)
    return torch.matmul(weights, value).reshape(1, heads, rows, -1)


def swap_attention(model: torch.nn.Module) -> int:
    """Makes a transformers model attend through ``torch_ane::sdpa``.

    Given:  ``config._attn_implementation`` of ``eager`` or ``sdpa``: repeat_kv, matmul, mul, add, softmax, matmul.
    Result: ``torch_ane.sdpa(query, key, value, mask, scale)`` on the key heads as they are.
    """
    config = getattr(model, "config", None)
    if config is None:
        return 0
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, AttentionInterface

    if NAME not in ALL_ATTENTION_FUNCTIONS:
        AttentionInterface.register(NAME, attention)
    configs = {id(c): c for c in (getattr(module, "config", None) for module in model.modules()) if c is not None}
    for each in configs.values():
        each._attn_implementation = NAME
    return len(configs)
