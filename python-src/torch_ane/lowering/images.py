"""Pooling, resizing and padding of images."""

import math

from .context import Context, Value
from .products import _each
from .table import lowers


def _with_batch(c: Context, a, spatial: int):
    """The operand as ``[n, channels, …]``, and the shape of the result as such."""
    x = c.tensor(a)
    if x.rank == spatial + 1:
        return c.reshaped(x, (1, *x.shape)), (1, *c.shape)
    return x, c.shape


@lowers(
    "aten.max_pool1d.default",
    "aten.max_pool2d.default",
    "aten.max_pool3d.default",
    "aten.max_pool2d_with_indices.default",
)
def max_pool(c: Context, a, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    spatial = 1 if "1d" in c.node.op else 3 if "3d" in c.node.op else 2
    if any(each != 1 for each in _each(dilation, spatial)):
        raise c.refusal(f"its dilation is {dilation}, MIL's pooling has 1")
    result = _pool(c, "max_pool", a, spatial, kernel, stride, padding, ceil_mode)
    return [result] if "indices" in c.node.op else result


@lowers("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def avg_pool(
    c: Context, a, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    spatial = 1 if "1d" in c.node.op else 3 if "3d" in c.node.op else 2
    if divisor_override is not None:
        raise c.refusal("it has a divisor of its own")
    if ceil_mode and count_include_pad:
        raise c.refusal("it rounds up and counts the padding, which torch does in a way of its own")
    return _pool(
        c,
        "avg_pool",
        a,
        spatial,
        kernel,
        stride,
        padding,
        ceil_mode,
        exclude_padding_from_average=not count_include_pad,
    )


def _pool(c: Context, kind: str, a, spatial: int, kernel, stride, padding, ceil_mode, **more) -> Value:
    x, shape = _with_batch(c, a, spatial)
    kernel = _each(kernel, spatial)
    result = c.emit(
        kind,
        shape,
        x=x,
        kernel_sizes=kernel,
        strides=_each(stride, spatial) if stride else kernel,
        pad_type="custom",
        pad=[pad for one in _each(padding, spatial) for pad in (one, one)],
        ceil_mode=bool(ceil_mode),
        **more,
    )
    return c.reshaped(result, c.shape)


@lowers(
    "aten.adaptive_avg_pool1d.default",
    "aten.adaptive_avg_pool2d.default",
    "aten._adaptive_avg_pool2d.default",
    "aten.adaptive_max_pool2d.default",
)
def adaptive_pool(c: Context, a, size):
    """To one pixel a reduction, to a divisor of the size a pooling; windows of unequal sizes are refused."""
    spatial = 1 if "1d" in c.node.op else 2
    most = "max" in c.node.op
    x, shape = _with_batch(c, a, spatial)
    axes = list(range(2, x.rank))
    if all(shape[axis] == 1 for axis in axes):
        result = c.emit("reduce_max" if most else "reduce_mean", shape, x=x, axes=axes, keep_dims=True)
    elif any(x.shape[axis] % shape[axis] for axis in axes):
        raise c.refusal(f"it makes {list(shape[2:])} of {list(x.shape[2:])}: only divisors are lowered")
    else:
        kernel = [x.shape[axis] // shape[axis] for axis in axes]
        more = {} if most else {"exclude_padding_from_average": False}
        kind = "max_pool" if most else "avg_pool"
        result = c.emit(
            kind, shape, x=x, kernel_sizes=kernel, strides=kernel, pad_type="valid", ceil_mode=False, **more
        )
    result = c.reshaped(result, c.shape)
    return [result] if most else result


@lowers("aten.upsample_nearest1d.vec", "aten.upsample_nearest1d.default")
def upsample_nearest1d(c: Context, a, *_, **__):
    x = c.tensor(a)
    image = c.reshaped(x, (*x.shape[:2], 1, x.shape[2]))
    return c.reshaped(_nearest(c, image, (*c.shape[:2], 1, c.shape[2])), c.shape)


@lowers("aten.upsample_nearest2d.vec", "aten.upsample_nearest2d.default", "aten._upsample_nearest_exact2d.vec")
def upsample_nearest2d(c: Context, a, *_, **__):
    if "exact" in c.node.op and any(new % old for new, old in zip(c.shape[2:], c.tensor(a).shape[2:], strict=True)):
        raise c.refusal("it is exact and does not multiply the size")
    return _nearest(c, c.tensor(a), c.shape)


def _nearest(c: Context, x: Value, shape) -> Value:
    height, width = (new / old for new, old in zip(shape[2:], x.shape[2:], strict=True))
    return c.emit("upsample_nearest_neighbor", shape, x=x, **_factors(c, x, shape, height, width))


def _factors(c: Context, x: Value, shape, height: float, width: float) -> dict:
    """Integers where they are, otherwise numbers whose product MIL rounds down to the size."""
    factors = {}
    for name, factor, old, new in (
        ("scale_factor_height", height, x.shape[2], shape[2]),
        ("scale_factor_width", width, x.shape[3], shape[3]),
    ):
        factors[name] = int(factor) if factor == int(factor) else (new + 0.5) / old
    if any(isinstance(each, float) for each in factors.values()):
        factors = {name: float(factor) for name, factor in factors.items()}
    return factors


@lowers("aten.upsample_bilinear2d.vec", "aten.upsample_bilinear2d.default")
def upsample_bilinear2d(c: Context, a, size, align_corners, *_, **__):
    x = c.tensor(a)
    height, width = (new / old for new, old in zip(c.shape[2:], x.shape[2:], strict=True))
    return c.emit(
        "upsample_bilinear",
        c.shape,
        x=x,
        align_corners=bool(align_corners),
        half_pixel_centers=not align_corners,
        **_factors(c, x, c.shape, height, width),
    )


@lowers("aten.pixel_shuffle.default")
def pixel_shuffle(c: Context, a, factor):
    return c.emit("pixel_shuffle", c.shape, x=c.tensor(a), upscale_factor=int(factor))


@lowers("aten.pixel_unshuffle.default")
def pixel_unshuffle(c: Context, a, factor):
    return c.emit("pixel_unshuffle", c.shape, x=c.tensor(a), downscale_factor=int(factor))


@lowers("aten.constant_pad_nd.default")
def constant_pad(c: Context, a, padding, value=0):
    return _padded(c, a, padding, "constant", value)


@lowers("aten.pad.default")
def pad(c: Context, a, padding, mode="constant", value=None):
    if mode == "circular":
        raise c.refusal("it pads around the edges")
    return _padded(c, a, padding, mode, value)


@lowers("aten.reflection_pad1d.default", "aten.reflection_pad2d.default", "aten.reflection_pad3d.default")
def reflection_pad(c: Context, a, padding):
    return _padded(c, a, padding, "reflect", 0)


@lowers("aten.replication_pad1d.default", "aten.replication_pad2d.default", "aten.replication_pad3d.default")
def replication_pad(c: Context, a, padding):
    return _padded(c, a, padding, "replicate", 0)


def _padded(c: Context, a, padding, mode: str, value) -> Value:
    """torch names the last axis first, and may cut by a negative number; MIL names the first axis first."""
    x = c.tensor(a)
    if x.kind == "bool":
        return c.cast(_padded_number(c, c.cast(x, "int"), padding, mode, value), "bool")
    return _padded_number(c, x, padding, mode, value)


def _padded_number(c: Context, x: Value, padding, mode: str, value) -> Value:
    pairs = [(int(padding[i]), int(padding[i + 1])) for i in range(0, len(padding), 2)][::-1]
    first = x.rank - len(pairs)
    for axis, (before, behind) in enumerate(pairs, first):
        if before < 0 or behind < 0:
            x = c.emit_slice(x, axis, max(-before, 0), x.shape[axis] - max(-behind, 0))
    sizes = [max(size, 0) for pair in pairs for size in pair]
    if not any(sizes):
        return x
    number = None
    if mode == "constant":
        number = int(value or 0) if x.kind == "int" else float(value or 0)
        if math.isinf(number) or abs(number) > 65504 and c.precision == "fp16":
            number = math.copysign(65504.0 if c.precision == "fp16" else 3.4e38, number)
    return c.emit("pad", c.shape, x=x, pad=sizes, mode=mode, constant_val=number)
