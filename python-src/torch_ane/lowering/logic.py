"""Comparisons, truth values, choices."""

import operator

import torch

from .context import Context, Gate, Value
from .table import lowers


def _comparison(name: str, kind: str, function) -> None:
    @lowers(f"aten.{name}.Tensor", f"aten.{name}.Scalar")
    def _(c: Context, a, b):
        if not isinstance(a, (Value, Gate)) and not isinstance(b, (Value, Gate)):
            return function(a, b)
        x, y = _same_kind(c, a, b)
        return c.emit(kind, c.shape, x=x, y=y)


for _name, _kind in {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}.items():
    _comparison(_name, _kind, getattr(operator, _name))


def _kind(value) -> str:
    if isinstance(value, Value):
        return value.kind
    if isinstance(value, Gate):
        return "float"
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"


def _same_kind(c: Context, a, b):
    """Both as floats if one of them is a float, otherwise as integers."""
    kind = "float" if "float" in (_kind(a), _kind(b)) else "int"
    return c.cast(a, kind), c.cast(b, kind)


def _logical(kind: str, *names: str) -> None:
    @lowers(*names)
    def _(c: Context, a, b):
        if c.kind != "bool":
            raise c.refusal("it combines the bits of integers; only truth values are lowered")
        return c.emit(kind, c.shape, x=c.cast(a, "bool"), y=c.cast(b, "bool"))


for _which in ("and", "or", "xor"):
    _logical(
        f"logical_{_which}",
        f"aten.logical_{_which}.default",
        f"aten.bitwise_{_which}.Tensor",
        f"aten.bitwise_{_which}.Scalar",
        f"aten.__{_which}__.Tensor",
        f"aten.__{_which}__.Scalar",
    )


@lowers("aten.logical_not.default", "aten.bitwise_not.default")
def logical_not(c: Context, a):
    if c.kind != "bool":
        raise c.refusal("it turns the bits of integers; only truth values are lowered")
    return c.emit("logical_not", c.shape, x=c.cast(a, "bool"))


@lowers("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(c: Context, condition, a, b):
    return _chosen(c, c.cast(condition, "bool"), a, b)


@lowers("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(c: Context, a, mask, value):
    return _chosen(c, c.cast(mask, "bool"), value, a)


def _chosen(c: Context, condition, a, b) -> Value:
    """MIL chooses between numbers; truth values are chosen as integers."""
    kind = "int" if c.kind == "bool" else c.kind
    x, y = _within(c, c.cast(a, kind)), _within(c, c.cast(b, kind))
    if not isinstance(condition, Value):
        condition = c.filled((1,) * max(1, len(c.shape)), condition)
    if not isinstance(x, Value) and not isinstance(y, Value):
        x = c.filled((1,) * max(1, len(c.shape)), x)
    return c.cast(c.emit("select", c.shape, cond=condition, a=x, b=y), c.kind)


def _within(c: Context, value):
    """Numbers beyond the program's float type become its largest: masks are written with fp32's smallest number."""
    if isinstance(value, float) and c.precision == "fp16":
        return max(-65504.0, min(65504.0, value))
    return value


@lowers("aten.isnan.default")
def isnan(c: Context, a):
    x = c.cast(a, "float")
    return c.emit("not_equal", c.shape, x=x, y=x)


@lowers("aten.nan_to_num.default")
def nan_to_num(c: Context, a, nan=None, posinf=None, neginf=None):
    x = c.tensor(a)
    largest = 65504.0 if c.precision == "fp16" else torch.finfo(torch.float32).max
    low, high = (-largest if neginf is None else float(neginf)), (largest if posinf is None else float(posinf))
    number = _chosen(c, c.emit("not_equal", c.shape, x=x, y=x), float(nan or 0), x)
    return c.emit("clip", c.shape, x=number, alpha=low, beta=high)


@lowers("aten.isinf.default")
def isinf(c: Context, a):
    size = c.emit("abs", c.shape, x=c.cast(a, "float"))
    return c.emit("equal", c.shape, x=size, y=float("inf"))
