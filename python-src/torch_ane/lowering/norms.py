"""Normalisations."""

import math

from .context import Context, Value
from .table import lowers


@lowers("aten.layer_norm.default", "aten.native_layer_norm.default")
def layer_norm(c: Context, a, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    axes = list(range(-len(normalized_shape), 0))
    x = c.cast(a, "float")
    result = c.emit("layer_norm", x.shape, x=x, axes=axes, gamma=weight, beta=bias, epsilon=float(eps))
    return [result] if "native" in c.node.op else result


@lowers("aten.group_norm.default")
def group_norm(c: Context, a, groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """An instance norm of ``[n, groups, c / groups · pixels]``, then the weights."""
    x = c.tensor(a)
    grouped = c.reshaped(x, (x.shape[0], groups, math.prod(x.shape[1:]) // groups))
    normal = c.reshaped(c.emit("instance_norm", grouped.shape, x=grouped, epsilon=float(eps)), x.shape)
    channels = (x.shape[1], *[1] * (x.rank - 2))
    if weight is not None:
        normal = c.emit("mul", x.shape, x=normal, y=c.reshaped(c.tensor(weight, "weight"), channels))
    if bias is not None:
        normal = c.emit("add", x.shape, x=normal, y=c.reshaped(c.tensor(bias, "bias"), channels))
    return normal


@lowers("aten.native_group_norm.default")
def native_group_norm(c: Context, a, weight, bias, n, channels, pixels, groups, eps):
    return [group_norm(c, a, groups, weight, bias, eps)]


@lowers("aten._native_batch_norm_legit_no_training.default")
def native_batch_norm(c: Context, a, weight, bias, mean, variance, momentum, eps):
    return [_batch_norm(c, c.tensor(a), weight, bias, mean, variance, eps)]


@lowers("aten.batch_norm.default")
def batch_norm(c: Context, a, weight, bias, mean, variance, training, momentum, eps, cudnn_enabled=True):
    if training or mean is None:
        raise c.refusal("it uses the moments of its batch: put the module into evaluation mode")
    return _batch_norm(c, c.tensor(a), weight, bias, mean, variance, eps)


def _batch_norm(c: Context, x: Value, weight, bias, mean, variance, eps) -> Value:
    shape = x.shape
    if x.rank == 2:
        x = c.reshaped(x, (*shape, 1))
    result = c.emit(
        "batch_norm", x.shape, x=x, mean=mean, variance=variance, gamma=weight, beta=bias, epsilon=float(eps)
    )
    return c.reshaped(result, shape)


@lowers("aten.instance_norm.default")
def instance_norm(c: Context, a, weight, bias, mean, variance, use_input_stats, momentum, eps, cudnn_enabled=True):
    if not use_input_stats:
        return _batch_norm(c, c.tensor(a), weight, bias, mean, variance, eps)
    x = c.tensor(a)
    return c.emit("instance_norm", x.shape, x=x, gamma=weight, beta=bias, epsilon=float(eps))
