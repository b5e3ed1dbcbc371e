"""Operations that summarise along axes."""

import math

from .context import Context, Value
from .table import lowers


@lowers("aten.mean.dim", "aten.mean.default")
def mean(c: Context, a, dim=None, keepdim=False, dtype=None):
    return _reduce(c, "reduce_mean", c.cast(a, "float"), dim, keepdim)


@lowers("aten.sum.dim_IntList", "aten.sum.default")
def sum_(c: Context, a, dim=None, keepdim=False, dtype=None):
    return _reduce(c, "reduce_sum", c.cast(a, c.kind), dim, keepdim)


@lowers("aten.amax.default", "aten.max.default")
def amax(c: Context, a, dim=(), keepdim=False):
    return _reduce(c, "reduce_max", c.tensor(a), dim, keepdim)


@lowers("aten.amin.default", "aten.min.default")
def amin(c: Context, a, dim=(), keepdim=False):
    return _reduce(c, "reduce_min", c.tensor(a), dim, keepdim)


@lowers("aten.prod.dim_int", "aten.prod.default")
def prod(c: Context, a, dim=None, keepdim=False, dtype=None):
    return _reduce(c, "reduce_prod", c.cast(a, c.kind), dim, keepdim)


def _axes(x: Value, dim) -> list[int]:
    dims = [dim] if isinstance(dim, int) else list(dim if dim is not None else ())
    return [x.axis(int(each)) for each in dims] or list(range(x.rank))


def _reduce(c: Context, kind: str, x: Value, dim, keepdim, shape=None) -> Value:
    shape = c.shape if shape is None else shape
    if x.rank == 0:
        return x
    return c.emit(kind, shape, x=x, axes=_axes(x, dim), keep_dims=bool(keepdim))


@lowers("aten.max.dim")
def max_dim(c: Context, a, dim, keepdim=False):
    return _largest(c, "max", a, dim, keepdim)


@lowers("aten.min.dim")
def min_dim(c: Context, a, dim, keepdim=False):
    return _largest(c, "min", a, dim, keepdim)


def _largest(c: Context, which: str, a, dim, keepdim) -> list[Value]:
    x = c.tensor(a)
    axis = x.axis(dim)
    values = c.emit(f"reduce_{which}", c.shape, x=x, axes=[axis], keep_dims=bool(keepdim))
    where = c.emit(f"reduce_arg{which}", c.shape, x=x, axis=axis, keep_dims=bool(keepdim))
    return [values, where]


@lowers("aten.argmax.default")
def argmax(c: Context, a, dim=None, keepdim=False):
    return _argument(c, "reduce_argmax", a, dim, keepdim)


@lowers("aten.argmin.default")
def argmin(c: Context, a, dim=None, keepdim=False):
    return _argument(c, "reduce_argmin", a, dim, keepdim)


def _argument(c: Context, kind: str, a, dim, keepdim) -> Value:
    x = c.tensor(a)
    if x.kind == "bool":
        x = c.cast(x, "int")
    if dim is not None:
        return c.emit(kind, c.shape, x=x, axis=x.axis(dim), keep_dims=bool(keepdim))
    flat = c.reshaped(x, (math.prod(x.shape),))
    found = c.emit(kind, (1,), x=flat, axis=0, keep_dims=True)
    return c.reshaped(found, c.shape)


@lowers("aten.var.correction", "aten.var.dim", "aten.var.default")
def var(c: Context, a, dim=None, unbiased=True, keepdim=False, correction=None):
    if c.node.op == "aten.var.default" and isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased else 0
    x = c.tensor(a)
    axes = _axes(x, dim)
    one = tuple([1 if axis in axes else size for axis, size in enumerate(x.shape)])
    mean_ = c.emit("reduce_mean", one, x=x, axes=axes, keep_dims=True)
    away = c.emit("sub", x.shape, x=x, y=mean_)
    total = _reduce(c, "reduce_sum", c.emit("mul", x.shape, x=away, y=away), axes, keepdim)
    count = math.prod(x.shape[axis] for axis in axes)
    return c.emit("mul", c.shape, x=total, y=1 / max(count - correction, 0) if count > correction else math.nan)


@lowers("aten.std.correction", "aten.std.dim", "aten.std.default")
def std(c: Context, a, dim=None, unbiased=True, keepdim=False, correction=None):
    return c.emit("sqrt", c.shape, x=var(c, a, dim, unbiased, keepdim, correction))


@lowers("aten.linalg_vector_norm.default", "aten.norm.ScalarOpt_dim", "aten.norm.Scalar")
def norm(c: Context, a, order=2, dim=None, keepdim=False, dtype=None):
    x = c.cast(a, "float")
    order = 2 if order is None else order
    size = c.emit("abs", x.shape, x=x)
    if order == 2:
        return _reduce(c, "reduce_l2_norm", x, dim, keepdim)
    if order == 1:
        return _reduce(c, "reduce_sum", size, dim, keepdim)
    if order == math.inf:
        return _reduce(c, "reduce_max", size, dim, keepdim)
    powers = c.emit("pow", x.shape, x=size, y=float(order))
    return c.emit("pow", c.shape, x=_reduce(c, "reduce_sum", powers, dim, keepdim), y=1 / order)


@lowers("aten.logsumexp.default")
def logsumexp(c: Context, a, dim, keepdim=False):
    return _reduce(c, "reduce_log_sum_exp", c.cast(a, "float"), dim, keepdim)


@lowers("aten.cumsum.default")
def cumsum(c: Context, a, dim, dtype=None):
    x = c.cast(a, c.kind)
    return c.emit("cumsum", c.shape, x=x, axis=x.axis(dim), exclusive=False, reverse=False)


@lowers("aten.any.default", "aten.any.dim", "aten.any.dims")
def any_(c: Context, a, dim=None, keepdim=False):
    return _truth(c, "reduce_max", a, dim, keepdim)


@lowers("aten.all.default", "aten.all.dim")
def all_(c: Context, a, dim=None, keepdim=False):
    return _truth(c, "reduce_min", a, dim, keepdim)


def _truth(c: Context, kind: str, a, dim, keepdim) -> Value:
    x = c.cast(c.cast(a, "bool"), "int")
    return c.cast(_reduce(c, kind, x, dim, keepdim), "bool")
