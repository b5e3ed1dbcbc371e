"""Operations an engine likes to see whole: each becomes a group of standard ones, in the order the contract fixes."""

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
    if len(normalized_shape) != 1 or weight is None or eps is None:
        raise c.refusal("it must be over the last axis, with a weight and an epsilon")
    return rms_norm(c, a, weight, eps)


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
    if mask is None or is_causal:
        raise c.refusal("it needs an additive mask and is_causal=False")
    return sdpa(c, query, key, value, mask, c.tensor(query).shape[-1] ** -0.5 if scale is None else scale)
