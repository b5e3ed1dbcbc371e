"""Attention of diffusers' models as the Neural Engine likes it.

There a transposed or reshaped tensor is a copy in memory. So queries and values keep their channels in front,
``[B, C, 1, T]``, keys their positions, ``[B, T, 1, C]``; each head is a slice of channels with two einsums of its own,
the softmax runs over the keys' axis, and the queries of large pictures come in chunks.
"""

import torch

QUERY_CHUNK = 512
CHUNKED_ABOVE = 1024


class SplitAttention:
    """A processor for diffusers' ``Attention``: the same numbers as its own, within rounding."""

    def __call__(self, attn, hidden_states, encoder_hidden_states=None, attention_mask=None, temb=None, **kwargs):
        if attention_mask is not None or temb is not None or attn.spatial_norm is not None:
            raise ValueError("attention with a mask or a spatial norm has no form for the target ane")
        given = hidden_states
        image = given.shape if given.ndim == 4 else None
        states = given.flatten(2).transpose(1, 2) if image is not None else given
        if attn.group_norm is not None:
            states = attn.group_norm(states.transpose(1, 2)).transpose(1, 2)
        context = states if encoder_hidden_states is None else encoder_hidden_states
        if encoder_hidden_states is not None and attn.norm_cross:
            context = attn.norm_encoder_hidden_states(context)
        query = attn.to_q(states).transpose(1, 2).unsqueeze(2)
        key = attn.to_k(context).unsqueeze(2)
        value = attn.to_v(context).transpose(1, 2).unsqueeze(2)
        width = query.shape[1] // attn.heads
        heads = []
        for head in range(attn.heads):
            part = slice(head * width, (head + 1) * width)
            heads.append(_one_head(query[:, part], key[..., part], value[:, part], attn.scale))
        mixed = torch.cat(heads, dim=1).squeeze(2).transpose(1, 2)
        for layer in attn.to_out:
            mixed = layer(mixed)
        if image is not None:
            mixed = mixed.transpose(1, 2).reshape(image)
        if attn.residual_connection:
            mixed = mixed + given
        return mixed / attn.rescale_output_factor


def _one_head(query, key, value, scale):
    """``[B, c, 1, Q]``, ``[B, K, 1, c]`` and ``[B, c, 1, K]`` to ``[B, c, 1, Q]``."""
    positions = query.shape[3]
    chunk = QUERY_CHUNK if positions > CHUNKED_ABOVE else positions
    parts = []
    for first in range(0, positions, chunk):
        scores = torch.einsum("bchq,bkhc->bkhq", query[..., first : first + chunk], key) * scale
        parts.append(torch.einsum("bkhq,bchk->bchq", scores.softmax(dim=1), value))
    return torch.cat(parts, dim=3) if len(parts) > 1 else parts[0]


def split_attention(module: torch.nn.Module) -> None:
    """Gives every attention of a diffusers model this form; other modules stay as they are."""
    choose = getattr(module, "set_attn_processor", None)
    if choose is not None:
        choose(SplitAttention())
