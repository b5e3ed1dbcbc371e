"""Matrix products and convolutions."""

import math

from .context import Context, Value
from .table import lowers


@lowers("aten.linear.default")
def linear(c: Context, a, weight, bias=None):
    x, w = c.tensor(a), c.tensor(weight, "weight")
    if w.rank == 1:
        return matmul(c, x, w)
    if w.computed:
        product = c.emit("matmul", c.shape, x=x, y=w, transpose_x=False, transpose_y=True)
        return product if bias is None else c.emit("add", c.shape, x=product, y=c.tensor(bias, "bias"))
    return c.emit("linear", c.shape, x=x, weight=w, bias=bias)


@lowers("aten.matmul.default", "aten.bmm.default", "aten.mm.default", "aten.mv.default", "aten.dot.default")
def matmul(c: Context, a, b):
    x, y = c.cast(a, "float"), c.cast(b, "float")
    if x.rank == 1:
        x = c.reshaped(x, (1, *x.shape))
    if y.rank == 1:
        y = c.reshaped(y, (*y.shape, 1))
    batch = _broadcast(x.shape[:-2], y.shape[:-2])
    product = c.emit("matmul", (*batch, x.shape[-2], y.shape[-1]), x=x, y=y, transpose_x=False, transpose_y=False)
    return c.reshaped(product, c.shape)


def _broadcast(a: tuple, b: tuple) -> tuple:
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple([max(x, y) for x, y in zip(a, b, strict=True)])


@lowers("aten.addmm.default", "aten.baddbmm.default", "aten.addbmm.default")
def addmm(c: Context, bias, a, b, beta=1, alpha=1):
    x, y = c.tensor(a), c.tensor(b)
    product = c.emit("matmul", c.shape, x=x, y=y, transpose_x=False, transpose_y=False)
    if alpha != 1:
        product = c.emit("mul", c.shape, x=product, y=float(alpha))
    if beta == 0:
        return product
    shift = c.tensor(bias, "bias")
    if beta != 1:
        shift = c.emit("mul", shift.shape, x=shift, y=float(beta))
    return c.emit("add", c.shape, x=product, y=shift)


@lowers("aten.einsum.default")
def einsum(c: Context, equation, operands, path=None):
    """Two operands: both as ``[shared, own, summed]`` by transposes, one product of matrices, and the axes back."""
    inputs, _, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    values = [c.tensor(each) for each in operands]
    letters = "".join(terms) + output
    if not output or "." in letters or len(terms) != 2 or any(len(set(each)) != len(each) for each in terms):
        raise c.refusal(f"its equation is '{equation}'; lowered are two operands, a result, and no axis twice in one")
    (left, right), (x, y) = terms, values
    sizes = dict(zip(left + right, x.shape + y.shape, strict=True))
    shared = [axis for axis in left if axis in right and axis in output]
    summed = [axis for axis in left if axis in right and axis not in output]
    alone = [axis for axis in letters if (axis in left) != (axis in right) and axis not in output]
    if alone:
        raise c.refusal(f"its equation '{equation}' sums the axis {alone[0]} of one operand alone")
    rows = [axis for axis in left if axis not in right]
    columns = [axis for axis in right if axis not in left]

    def matrix(value: Value, term: str, own: list, last: list) -> Value:
        order = [*shared, *own, *last]
        moved = c.permuted(value, [term.index(axis) for axis in order])
        size = [math.prod(sizes[axis] for axis in group) for group in (own, last)]
        return c.reshaped(moved, (*[sizes[axis] for axis in shared], *size))

    x, y = matrix(x, left, rows, summed), matrix(y, right, columns, summed)
    shape = (*x.shape[:-1], y.shape[-2])
    product = c.emit("matmul", shape, x=x, y=y, transpose_x=False, transpose_y=True)
    order = [*shared, *rows, *columns]
    product = c.reshaped(product, [sizes[axis] for axis in order])
    return c.permuted(product, [order.index(axis) for axis in output])


# ---- convolutions


@lowers(
    "aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default", "aten.conv2d.padding", "aten.conv1d.padding"
)
def conv(c: Context, a, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    x, w = c.tensor(a), c.tensor(weight, "weight")
    spatial = w.rank - 2
    stride, dilation = _each(stride, spatial), _each(dilation, spatial)
    if isinstance(padding, str):
        pads = _same(w.shape[2:], dilation) if padding == "same" else [0] * (2 * spatial)
    else:
        pads = [pad for one in _each(padding, spatial) for pad in (one, one)]
    return _conv(c, x, w, bias, stride, pads, dilation, groups)


def _conv(c: Context, x: Value, w: Value, bias, stride, pads, dilation, groups) -> Value:
    shape, outer = c.shape, x.rank
    if x.rank == w.rank - 1:  # torch takes one image without its batch
        x, shape = c.reshaped(x, (1, *x.shape)), (1, *c.shape)
    result = c.emit(
        "conv",
        shape,
        x=x,
        weight=w,
        bias=bias,
        strides=stride,
        pad_type="custom",
        pad=pads,
        dilations=dilation,
        groups=int(groups),
    )
    return c.reshaped(result, c.shape) if outer < len(shape) else result


def _same(kernel, dilation) -> list[int]:
    """As torch pads: what is odd goes behind."""
    pads = []
    for size, step in zip(kernel, dilation, strict=True):
        total = (size - 1) * step
        pads += [total // 2, total - total // 2]
    return pads


@lowers("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(c: Context, a, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _transposed(c, a, weight, bias, stride, padding, dilation, output_padding, groups)


@lowers("aten.convolution.default")
def convolution(c: Context, a, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return _transposed(c, a, weight, bias, stride, padding, dilation, output_padding, groups)
    return conv(c, a, weight, bias, stride, padding, dilation, groups)


def _transposed(c: Context, a, weight, bias, stride, padding, dilation, output_padding, groups) -> Value:
    x, w = c.tensor(a), c.tensor(weight, "weight")
    spatial = w.rank - 2
    return c.emit(
        "conv_transpose",
        c.shape,
        x=x,
        weight=w,
        bias=bias,
        pad=[pad for one in _each(padding, spatial) for pad in (one, one)],
        output_shape=list(c.shape) if any(_each(output_padding, spatial)) else None,
        pad_type="custom",
        strides=_each(stride, spatial),
        dilations=_each(dilation, spatial),
        groups=int(groups),
    )


def _each(value, spatial: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return [int(v) for v in (values * spatial if len(values) == 1 else values)]
