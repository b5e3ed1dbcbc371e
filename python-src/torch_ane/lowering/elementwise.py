"""Arithmetic, activations, reductions, norms."""

import math
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


@lowers("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor", "truediv")
def div(c: Context, a, b):
    return _binary(c, "real_div", a, b, operator.truediv)


@lowers("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_rounded(c: Context, a, b, rounding_mode=None):
    if rounding_mode == "floor":
        return floor_divide(c, a, b)
    if rounding_mode is None:
        return div(c, a, b)
    quotient = c.emit("real_div", c.shape, x=c.cast(a, "float"), y=c.cast(b, "float"))
    return c.cast(truncated(c, quotient), c.kind)


@lowers("aten.floor_divide.default", "aten.floor_divide.Scalar", "floordiv")
def floor_divide(c: Context, a, b):
    return _binary(c, "floor_div", a, b, operator.floordiv)


@lowers("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor", "mod")
def remainder(c: Context, a, b):
    return _binary(c, "mod", a, b, operator.mod)


@lowers("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(c: Context, a, b):
    """``a − b · trunc(a / b)``"""
    x, y = c.cast(a, "float"), c.cast(b, "float")
    whole = truncated(c, c.emit("real_div", c.shape, x=x, y=y))
    return c.cast(c.emit("sub", c.shape, x=x, y=c.emit("mul", c.shape, x=whole, y=y)), c.kind)


@lowers("aten.trunc.default", "aten.fix.default")
def trunc(c: Context, a):
    return truncated(c, c.tensor(a))


def truncated(c: Context, x: Value) -> Value:
    if x.kind == "int":
        return x
    size = c.emit("floor", x.shape, x=c.emit("abs", x.shape, x=x))
    return c.emit("mul", x.shape, x=size, y=c.emit("sign", x.shape, x=x))


@lowers("aten.maximum.default", "aten.max.other")
def maximum(c: Context, a, b):
    return _binary(c, "maximum", a, b, max)


@lowers("aten.minimum.default", "aten.min.other")
def minimum(c: Context, a, b):
    return _binary(c, "minimum", a, b, min)


def _binary(c: Context, kind: str, a, b, numbers):
    if not isinstance(a, (Value, Gate)) and not isinstance(b, (Value, Gate)):
        return numbers(a, b)
    if c.kind == "bool":
        raise c.refusal("it computes with truth values")
    x, y = c.cast(a, c.kind), c.cast(b, c.kind)
    if kind in ("add", "mul") and not isinstance(x, Value):
        x, y = y, x
    return c.emit(kind, c.shape, x=x, y=y)


def _times(c: Context, value, alpha):
    if alpha == 1:
        return value
    if not isinstance(value, Value):
        return value * alpha
    return c.emit("mul", value.shape, x=value, y=int(alpha) if value.kind == "int" else float(alpha))


@lowers("aten.neg.default")
def neg(c: Context, a):
    if not isinstance(a, (Value, Gate)):
        return -a
    return c.emit("mul", c.shape, x=c.tensor(a), y=-1 if c.kind == "int" else -1.0)


@lowers("aten.square.default")
def square(c: Context, a):
    x = c.tensor(a)
    return c.emit("mul", c.shape, x=x, y=x)


@lowers("aten.pow.Tensor_Scalar")
def pow_(c: Context, a, exponent):
    x = c.cast(a, c.kind)
    if exponent == 2:
        return c.emit("mul", c.shape, x=x, y=x)
    if exponent == 0.5:
        return c.emit("sqrt", c.shape, x=x)
    return c.emit("pow", c.shape, x=x, y=int(exponent) if c.kind == "int" else float(exponent))


@lowers("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def pow_of(c: Context, a, exponent):
    return _binary(c, "pow", a, exponent, operator.pow)


@lowers("aten.reciprocal.default")
def reciprocal(c: Context, a):
    return c.emit("real_div", c.shape, x=1.0, y=c.cast(a, "float"))


@lowers("aten.addcmul.default")
def addcmul(c: Context, a, b, d, value=1):
    product = c.emit("mul", c.shape, x=c.tensor(b), y=c.tensor(d))
    return c.emit("add", c.shape, x=c.tensor(a), y=_times(c, product, value))


@lowers("aten.addcdiv.default")
def addcdiv(c: Context, a, b, d, value=1):
    quotient = c.emit("real_div", c.shape, x=c.tensor(b), y=c.tensor(d))
    return c.emit("add", c.shape, x=c.tensor(a), y=_times(c, quotient, value))


@lowers("aten.lerp.Scalar", "aten.lerp.Tensor")
def lerp(c: Context, a, b, weight):
    step = c.emit("sub", c.shape, x=c.tensor(b), y=c.tensor(a))
    return c.emit("add", c.shape, x=c.tensor(a), y=c.emit("mul", c.shape, x=step, y=c.cast(weight, "float")))


def _unary(name: str, kind: str) -> None:
    @lowers(f"aten.{name}.default")
    def _(c: Context, a):
        return c.emit(kind, c.shape, x=c.cast(a, c.kind))


for _name in (
    *("sigmoid", "tanh", "exp", "exp2", "erf", "relu", "relu6", "sqrt", "abs", "sign", "floor", "ceil", "round"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "atanh"),
):
    _unary(_name, _name)


def _formula(*names: str):
    """Registers a function of (context, float tensor) for an operation of one operand."""

    def register(function):
        @lowers(*(f"aten.{name}.default" for name in names))
        def _(c: Context, a):
            return function(c, c.cast(a, "float"))

        return function

    return register


def _two(c: Context, kind: str, x, y) -> Value:
    return c.emit(kind, (x if isinstance(x, Value) else y).shape, x=x, y=y)


@_formula("log")
def log(c: Context, x):
    return c.emit("log", x.shape, x=x, epsilon=0.0)


@_formula("log1p")
def log1p(c: Context, x):
    return log(c, _two(c, "add", x, 1.0))


@_formula("log2")
def log2(c: Context, x):
    return _two(c, "mul", log(c, x), 1 / math.log(2))


@_formula("log10")
def log10(c: Context, x):
    return _two(c, "mul", log(c, x), 1 / math.log(10))


@_formula("expm1")
def expm1(c: Context, x):
    return _two(c, "sub", c.emit("exp", x.shape, x=x), 1.0)


@_formula("asinh", "arcsinh")
def asinh(c: Context, x):
    root = c.emit("sqrt", x.shape, x=_two(c, "add", _two(c, "mul", x, x), 1.0))
    size = log(c, _two(c, "add", c.emit("abs", x.shape, x=x), root))
    return _two(c, "mul", size, c.emit("sign", x.shape, x=x))


@_formula("acosh", "arccosh")
def acosh(c: Context, x):
    root = c.emit("sqrt", x.shape, x=_two(c, "sub", _two(c, "mul", x, x), 1.0))
    return log(c, _two(c, "add", x, root))


@_formula("hardsigmoid")
def hardsigmoid(c: Context, x):
    return c.emit("sigmoid_hard", x.shape, x=x, alpha=1 / 6, beta=0.5)


@_formula("hardswish")
def hardswish(c: Context, x):
    return _two(c, "mul", x, hardsigmoid(c, x))


@_formula("log_sigmoid")
def log_sigmoid(c: Context, x):
    return _two(c, "mul", c.emit("softplus", x.shape, x=_two(c, "mul", x, -1.0)), -1.0)


@_formula("selu")
def selu(c: Context, x):
    return _two(c, "mul", c.emit("elu", x.shape, x=x, alpha=1.6732632423543772), 1.0507009873554805)


@lowers("aten.elu.default")
def elu(c: Context, a, alpha=1.0, scale=1.0, input_scale=1.0):
    if scale != 1 or input_scale != 1:
        raise c.refusal(f"its scales are {scale} and {input_scale}, not 1")
    return c.emit("elu", c.shape, x=c.tensor(a), alpha=float(alpha))


@lowers("aten.celu.default")
def celu(c: Context, a, alpha=1.0):
    if alpha != 1:
        raise c.refusal(f"its alpha is {alpha}, not 1")
    return c.emit("elu", c.shape, x=c.tensor(a), alpha=1.0)


@lowers("aten.leaky_relu.default")
def leaky_relu(c: Context, a, negative_slope=0.01):
    return c.emit("leaky_relu", c.shape, x=c.tensor(a), alpha=float(negative_slope))


@lowers("aten.prelu.default", "aten._prelu_kernel.default")
def prelu(c: Context, a, weight):
    """``max(x, 0) + weight · min(x, 0)``, one weight for each channel or for all."""
    x, slope = c.tensor(a), c.tensor(weight, "weight")
    if slope.rank == 1 and x.rank > 1:
        slope = c.reshaped(slope, (slope.shape[0], *[1] * (x.rank - 2)))
    below = c.emit("mul", x.shape, x=c.emit("minimum", x.shape, x=x, y=0.0), y=slope)
    return c.emit("add", x.shape, x=c.emit("relu", x.shape, x=x), y=below)


@lowers("aten.glu.default")
def glu(c: Context, a, dim=-1):
    x = c.tensor(a)
    axis = x.axis(dim)
    half = x.shape[axis] // 2
    operands = {"x": x.handle, "split_sizes": [half, half], "axis": axis}
    first, second = list(c.function.sink.operation("split", c.title, operands, None))
    gate = c.emit("sigmoid", c.shape, x=Value(second, c.shape))
    return c.emit("mul", c.shape, x=Value(first, c.shape), y=gate)


@lowers("aten.atan2.default")
def atan2(c: Context, a, b):
    """The arc tangent of a quotient, by half a turn where the denominator is negative."""
    y, x = c.cast(a, "float"), c.cast(b, "float")
    angle = c.emit("atan", c.shape, x=c.emit("real_div", c.shape, x=y, y=x))
    left = c.emit("less", c.shape, x=x, y=0.0)
    above = c.emit("greater_equal", c.shape, x=y, y=0.0)
    turn = c.emit("select", c.shape, cond=above, a=math.pi, b=-math.pi)
    return c.emit("select", c.shape, cond=left, a=c.emit("add", c.shape, x=angle, y=turn), b=angle)


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


@lowers("aten.clamp.Tensor", "aten.clamp_min.Tensor", "aten.clamp_max.Tensor")
def clamp_by(c: Context, a, low=None, high=None):
    if "clamp_max" in c.node.op:
        low, high = None, low
    x = c.cast(a, c.kind)
    if low is not None:
        x = c.emit("maximum", c.shape, x=x, y=c.cast(low, c.kind))
    return x if high is None else c.emit("minimum", c.shape, x=x, y=c.cast(high, c.kind))


@lowers("aten.clamp_max.default")
def clamp_max(c: Context, a, high):
    return clamp(c, a, None, high)


@lowers("aten.threshold.default")
def threshold(c: Context, a, limit, value):
    x = c.cast(a, "float")
    above = c.emit("greater", c.shape, x=x, y=float(limit))
    return c.emit("select", c.shape, cond=above, a=x, b=float(value))


@lowers("aten.clamp.default", "aten.clamp_min.default", "aten.hardtanh.default")
def clamp(c: Context, a, low=None, high=None):
    if c.node.op == "aten.hardtanh.default":
        low, high = -1.0 if low is None else low, 1.0 if high is None else high
    if c.kind == "int":
        return clamp_by(c, a, low, high)
    largest = 65504.0 if c.precision == "fp16" else torch.finfo(torch.float32).max
    alpha = -largest if low is None else float(low)
    return c.emit("clip", c.shape, x=c.tensor(a), alpha=alpha, beta=largest if high is None else float(high))


@lowers("aten.softmax.int", "aten._softmax.default")
def softmax(c: Context, a, dim, dtype=None):
    return c.emit("softmax", c.shape, x=c.cast(a, "float"), axis=int(dim))


@lowers("aten.log_softmax.int", "aten._log_softmax.default")
def log_softmax(c: Context, a, dim, dtype=None):
    """``x − m − log(sum(exp(x − m)))`` with the largest ``m`` of each row."""
    x = c.cast(a, "float")
    axis = x.axis(dim)
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    largest = c.emit("reduce_max", one, x=x, axes=[axis], keep_dims=True)
    below = c.emit("sub", x.shape, x=x, y=largest)
    total = c.emit("reduce_sum", one, x=c.emit("exp", x.shape, x=below), axes=[axis], keep_dims=True)
    return c.emit("sub", x.shape, x=below, y=log(c, total))
