"""Arithmetic, activations, reductions, norms."""

import operator

import torch

from .context import Context, Gate, Value
from .table import lowers


@lowers("aten.mul.Tensor", "aten.mul.Scalar")
def mul(c: Context, a, b):
    for gate, up in ((a, b), (b, a)):
        if isinstance(gate, Gate):
            group = c.group("swiglu")
            act = c.emit(gate.kind, gate.x.shape, group, x=gate.x, **gate.options)
            return c.emit("mul", c.shape, group, x=act, y=up)
    return _binary(c, "mul", a, b, operator.mul)


@lowers("aten.add.Tensor", "aten.add.Scalar")
def add(c: Context, a, b, alpha=1):
    return _binary(c, "add", a, _times(c, b, alpha), operator.add)


@lowers("aten.sub.Tensor", "aten.sub.Scalar")
def sub(c: Context, a, b, alpha=1):
    return _binary(c, "sub", a, _times(c, b, alpha), operator.sub)


@lowers("aten.rsub.Scalar", "aten.rsub.Tensor")
def rsub(c: Context, a, b, alpha=1):
    return _binary(c, "sub", b, _times(c, a, alpha), operator.sub)


@lowers("aten.div.Tensor", "aten.div.Scalar")
def div(c: Context, a, b):
    return _binary(c, "real_div", a, b, operator.truediv)


@lowers("aten.maximum.default")
def maximum(c: Context, a, b):
    return _binary(c, "maximum", a, b, max)


@lowers("aten.minimum.default")
def minimum(c: Context, a, b):
    return _binary(c, "minimum", a, b, min)


def _binary(c: Context, kind: str, a, b, numbers):
    if not isinstance(a, (Value, Gate)) and not isinstance(b, (Value, Gate)):
        return numbers(a, b)
    x, y = (c.tensor(side) if isinstance(side, Gate) else side for side in (a, b))
    if c.node.dtypes[0].is_floating_point:
        x, y = (side if isinstance(side, Value) else float(side) for side in (x, y))
    if kind in ("add", "mul") and not isinstance(x, Value):
        x, y = y, x
    return c.emit(kind, c.shape, x=x, y=y)


def _times(c: Context, value, alpha):
    if alpha == 1:
        return value
    if not isinstance(value, Value):
        return value * alpha
    return c.emit("mul", value.shape, x=value, y=float(alpha))


@lowers("aten.neg.default")
def neg(c: Context, a):
    return -a if not isinstance(a, Value) else c.emit("mul", c.shape, x=a, y=-1.0)


@lowers("aten.square.default")
def square(c: Context, a):
    x = c.tensor(a)
    return c.emit("mul", c.shape, x=x, y=x)


@lowers("aten.pow.Tensor_Scalar")
def pow_(c: Context, a, exponent):
    x = c.tensor(a)
    if exponent == 2:
        return c.emit("mul", c.shape, x=x, y=x)
    return c.emit("pow", c.shape, x=x, y=float(exponent))


def _unary(name: str, kind: str) -> None:
    @lowers(f"aten.{name}.default")
    def _(c: Context, a):
        return c.emit(kind, c.shape, x=c.tensor(a))


for _name, _kind in {
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "exp": "exp",
    "erf": "erf",
    "relu": "relu",
    "sqrt": "sqrt",
    "cos": "cos",
    "sin": "sin",
    "abs": "abs",
}.items():
    _unary(_name, _kind)


@lowers("aten.rsqrt.default")
def rsqrt(c: Context, a):
    return c.emit("rsqrt", c.shape, x=c.tensor(a), epsilon=0.0)


@lowers("aten.silu.default")
def silu(c: Context, a):
    return _activation(c, "silu", a, {})


@lowers("aten.gelu.default")
def gelu(c: Context, a, approximate="none"):
    return _activation(c, "gelu", a, {"mode": "TANH_APPROXIMATION" if approximate == "tanh" else "EXACT"})


def _activation(c: Context, kind: str, a, options):
    x = c.tensor(a)
    return Gate(kind, x, options) if c.node.name in c.gates else c.emit(kind, c.shape, x=x, **options)


@lowers("aten.softplus.default")
def softplus(c: Context, a, beta=1, threshold=20):
    if beta != 1:
        raise c.refusal(f"beta is {beta}, MIL's softplus has 1")
    return c.emit("softplus", c.shape, x=c.tensor(a))


@lowers("aten.clamp.default")
def clamp(c: Context, a, low=None, high=None):
    largest = 65504.0 if c.precision == "fp16" else torch.finfo(torch.float32).max
    alpha = -largest if low is None else float(low)
    return c.emit("clip", c.shape, x=c.tensor(a), alpha=alpha, beta=largest if high is None else float(high))


@lowers("aten.softmax.int", "aten._softmax.default")
def softmax(c: Context, a, dim, dtype=None):
    return c.emit("softmax", c.shape, x=c.tensor(a), axis=int(dim))


@lowers("aten.mean.dim")
def mean(c: Context, a, dim=None, keepdim=False, dtype=None):
    return _reduce(c, "reduce_mean", a, dim, keepdim)


@lowers("aten.sum.dim_IntList")
def sum_(c: Context, a, dim=None, keepdim=False, dtype=None):
    return _reduce(c, "reduce_sum", a, dim, keepdim)


@lowers("aten.amax.default")
def amax(c: Context, a, dim=(), keepdim=False):
    return _reduce(c, "reduce_max", a, dim, keepdim)


def _reduce(c: Context, kind: str, a, dim, keepdim):
    x = c.tensor(a)
    axes = [dim] if isinstance(dim, int) else list(dim or range(x.rank))
    return c.emit(kind, c.shape, x=x, axes=[int(axis) for axis in axes], keep_dims=bool(keepdim))


@lowers("aten.layer_norm.default")
def layer_norm(c: Context, a, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    axes = list(range(-len(normalized_shape), 0))
    return c.emit("layer_norm", c.shape, x=c.tensor(a), axes=axes, gamma=weight, beta=bias, epsilon=float(eps))
