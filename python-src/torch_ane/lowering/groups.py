"""Operations an engine likes to see whole: each becomes a group of standard ones, in the order the contract fixes."""

import torch

from .context import Context, Value
from .table import lowers


@lowers("torch_ane.rms_norm.default")
def rms_norm(c: Context, a, weight, epsilon):
    x = c.tensor(a)
    group = c.group("rms_norm")
    mean_shape = (*x.shape[:-1], 1)
    wide = _cast(c, x, "fp32", group)
    square = c.emit("mul", x.shape, group, x=wide, y=wide)
    mean = c.emit("reduce_mean", mean_shape, group, x=square, axes=[-1], keep_dims=True)
    root = c.emit("rsqrt", mean_shape, group, x=mean, epsilon=float(epsilon))
    normal = c.emit("mul", x.shape, group, x=wide, y=root)
    return c.emit("mul", x.shape, group, x=_cast(c, normal, c.precision, group), y=c.tensor(weight, "weight"))


def _cast(c: Context, x: Value, dtype: str, group: str) -> Value:
    return x if c.precision == "fp32" else c.emit("cast", x.shape, group, x=x, dtype=dtype)


@lowers("aten.rms_norm.default")
def aten_rms_norm(c: Context, a, normalized_shape, weight=None, eps=None):
    if len(normalized_shape) != 1 or weight is None:
        raise c.refusal("it must be over the last axis, with a weight")
    return rms_norm(c, a, weight, torch.finfo(torch.float32).eps if eps is None else eps)


@lowers("torch_ane.rope.default")
def rope(c: Context, a, cos, sin):
    x, cos, sin = c.tensor(a), c.tensor(cos, "cos"), c.tensor(sin, "sin")
    group = c.group("rope")
    *outer, dim = x.shape
    half = (*outer, dim // 2)
    zeros = [0] * len(outer)
    first = c.emit("slice_by_index", half, group, x=x, begin=[*zeros, 0], end=list(half))
    second = c.emit("slice_by_index", half, group, x=x, begin=[*zeros, dim // 2], end=list(x.shape))
    minus = c.emit("mul", half, group, x=second, y=-1.0)
    rotated = c.emit("concat", x.shape, group, values=[minus, first], axis=-1, interleave=False)
    straight = c.emit("mul", x.shape, group, x=x, y=cos)
    turned = c.emit("mul", x.shape, group, x=rotated, y=sin)
    return c.emit("add", x.shape, group, x=straight, y=turned)


@lowers("torch_ane.sdpa.default")
def sdpa(c: Context, query, key, value, mask, scale):
    q, k, v = c.tensor(query), c.tensor(key), c.tensor(value)
    _, heads, rows, dim = q.shape
    _, kv, columns, _ = k.shape
    group = c.group("sdpa")
    q = c.emit("mul", q.shape, group, x=q, y=float(scale))
    scores, result = (1, heads, rows, columns), (1, heads, rows, v.shape[-1])
    if heads != kv:
        share = (1, kv, heads // kv, rows)
        q = c.emit("reshape", (*share, dim), group, x=q, shape=[*share, dim])
        k = c.emit("expand_dims", (1, kv, 1, columns, dim), group, x=k, axes=[2])
        v = c.emit("expand_dims", (1, kv, 1, columns, v.shape[-1]), group, x=v, axes=[2])
        scores, result = (*share, columns), (*share, v.shape[-1])
    s = c.emit("matmul", scores, group, x=q, y=k, transpose_x=False, transpose_y=True)
    s = c.emit("add", scores, group, x=s, y=c.tensor(mask, "mask"))
    p = c.emit("softmax", scores, group, x=s, axis=-1)
    o = c.emit("matmul", result, group, x=p, y=v, transpose_x=False, transpose_y=False)
    return o if heads == kv else c.emit("reshape", c.shape, group, x=o, shape=list(c.shape))


@lowers("aten.scaled_dot_product_attention.default")
def aten_sdpa(c: Context, query, key, value, mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """A group where the shapes are a group's; otherwise MIL's own operation, or the operations that it stands for."""
    q, k, v = c.tensor(query), c.tensor(key), c.tensor(value)
    scale = q.shape[-1] ** -0.5 if scale is None else float(scale)
    additive = isinstance(mask, Value) and mask.kind == "float" and not is_causal
    if additive and not c.function.whole_attention and q.rank == 4 and q.shape[0] == 1:
        return sdpa(c, q, k, v, mask, scale)
    if enable_gqa and q.shape[1] != k.shape[1]:
        k, v = (_repeated(c, each, q.shape[1] // each.shape[1]) for each in (k, v))
    if is_causal:
        mask = _causal(c, q.shape[-2], k.shape[-2])
    if c.function.whole_attention and 3 <= q.rank <= 5 and q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        factor = scale * q.shape[-1] ** 0.5
        if abs(factor - 1) > 1e-6:
            q = c.emit("mul", q.shape, x=q, y=factor)
        return c.emit("scaled_dot_product_attention", c.shape, query=q, key=k, value=v, attn_mask=mask)
    scores = (*c.shape[:-1], k.shape[-2])
    q = c.emit("mul", q.shape, x=q, y=scale)
    s = c.emit("matmul", scores, x=q, y=k, transpose_x=False, transpose_y=True)
    if mask is not None:
        s = c.emit("add", scores, x=s, y=_added(c, mask))
    p = c.emit("softmax", scores, x=s, axis=-1)
    return c.emit("matmul", c.shape, x=p, y=v, transpose_x=False, transpose_y=False)


def _added(c: Context, mask: Value) -> Value:
    """Truth values as numbers to add: 0 where a row may look, -40000 elsewhere."""
    if mask.kind != "bool":
        return mask
    closed = c.emit("sub", mask.shape, x=1.0, y=c.cast(mask, "float"))
    return c.emit("mul", mask.shape, x=closed, y=-40000.0)


def _causal(c: Context, rows: int, columns: int) -> Value:
    numbers = [0.0 if j <= i else -40000.0 for i in range(rows) for j in range(columns)]
    made = {"x": c.constant(numbers), "shape": [rows, columns]}
    return Value(c.function.sink.operation("reshape", c.title, made, None), (rows, columns))


def _repeated(c: Context, x: Value, times: int) -> Value:
    """Each head several times in a row."""
    n, heads, columns, dim = x.shape
    apart = c.reshaped(x, (n, heads, 1, columns, dim))
    tiled = c.emit("tile", (n, heads, times, columns, dim), x=apart, reps=[1, 1, times, 1, 1])
    return c.reshaped(tiled, (n, heads * times, columns, dim))
