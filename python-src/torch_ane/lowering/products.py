"""Matrix products and convolutions."""

from .context import Context
from .table import lowers


@lowers("aten.linear.default")
def linear(c: Context, a, weight, bias=None):
    return c.emit("linear", c.shape, x=c.tensor(a), weight=c.tensor(weight, "weight"), bias=bias)


@lowers("aten.matmul.default", "aten.bmm.default")
def matmul(c: Context, a, b):
    x, y = c.tensor(a), c.tensor(b)
    if x.rank < 2 or y.rank < 2:
        raise c.refusal(f"its operands have ranks {x.rank} and {y.rank}, MIL's matmul needs 2 or more")
    return c.emit("matmul", c.shape, x=x, y=y, transpose_x=False, transpose_y=False)


@lowers("aten.conv2d.default")
def conv2d(c: Context, a, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    (top, left), (down, right) = _pair(c, padding), _pair(c, padding)
    return c.emit(
        "conv",
        c.shape,
        x=c.tensor(a),
        weight=c.tensor(weight, "weight"),
        bias=bias,
        strides=_pair(c, stride),
        pad_type="custom",
        pad=[top, down, left, right],
        dilations=_pair(c, dilation),
        groups=int(groups),
    )


def _pair(c: Context, value) -> list[int]:
    if isinstance(value, str):
        raise c.refusal(f"its padding is '{value}', numbers are needed")
    values = [value] if isinstance(value, int) else list(value)
    return [int(v) for v in (values * 2 if len(values) == 1 else values)]
