"""MIL operations outside language models, as the documentation describes them, with torch."""

import torch
from torch.nn import functional as F  # noqa: N812

TYPES = {"fp32": torch.float32, "fp16": torch.float16, "int32": torch.int32, "bool": torch.bool}


def _pairs(pad):
    """MIL's pad of the last axes as torch's: the last axis first."""
    return [each for i in range(len(pad) - 2, -1, -2) for each in (pad[i], pad[i + 1])]


def _like(x, other):
    return x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=other.dtype)


def _compared(function):
    def compare(self, x, y):
        x, y = _like(x, y), _like(y, x)
        assert x.dtype == y.dtype, (x.dtype, y.dtype)
        return function(x, y)

    return compare


def _unary(function):
    return lambda self, x: function(x)


def _logical(function):
    def combine(self, x, y):
        x, y = _like(x, y), _like(y, x)
        assert x.dtype == y.dtype == torch.bool
        return function(x, y)

    return combine


class Mil:
    """One method for each operation."""

    equal, not_equal = _compared(torch.eq), _compared(torch.ne)
    less, less_equal = _compared(torch.lt), _compared(torch.le)
    greater, greater_equal = _compared(torch.gt), _compared(torch.ge)
    mod, floor_div = _compared(torch.remainder), _compared(torch.floor_divide)
    logical_and, logical_or = _logical(torch.logical_and), _logical(torch.logical_or)
    logical_xor = _logical(torch.logical_xor)
    logical_not, relu, relu6 = _unary(torch.logical_not), _unary(torch.relu), _unary(F.relu6)
    exp, exp2, erf, sqrt, abs = (_unary(f) for f in (torch.exp, torch.exp2, torch.erf, torch.sqrt, torch.abs))
    sign, floor, ceil, round = (_unary(f) for f in (torch.sign, torch.floor, torch.ceil, torch.round))
    sin, cos, tan, asin, acos = (_unary(f) for f in (torch.sin, torch.cos, torch.tan, torch.asin, torch.acos))
    atan, sinh, cosh, atanh = (_unary(f) for f in (torch.atan, torch.sinh, torch.cosh, torch.atanh))
    softsign = _unary(F.softsign)

    def log(self, x, epsilon):
        return torch.log(x + epsilon)

    def sigmoid_hard(self, x, alpha, beta):
        return (alpha * x + beta).clamp(0, 1)

    def elu(self, x, alpha):
        return F.elu(x, alpha)

    def leaky_relu(self, x, alpha):
        return F.leaky_relu(x, alpha)

    def select(self, cond, a, b):
        other = next((each for each in (a, b) if isinstance(each, torch.Tensor)), torch.tensor(0.0))
        a, b = _like(a, other), _like(b, other)
        assert cond.dtype == torch.bool and a.dtype == b.dtype, (cond.dtype, a.dtype, b.dtype)
        return torch.where(cond, a, b)

    def cast(self, x, dtype):
        return x.to(TYPES[dtype])

    def fill(self, shape, value):
        assert all(size > 0 for size in shape)
        return torch.full(shape, value, dtype=torch.int32 if type(value) is int else None)

    def pad(self, x, pad, mode, constant_val=None):
        if mode != "constant":
            return F.pad(x, _pairs(pad), mode)
        assert type(constant_val) is (int if x.dtype == torch.int32 else float)
        return F.pad(x, _pairs(pad), value=constant_val)

    def reverse(self, x, axes):
        return x.flip(axes)

    def conv(self, x, weight, strides, pad_type, pad, dilations, groups, bias=None):
        assert pad_type == "custom" and x.ndim == weight.ndim
        function = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[x.ndim]
        return function(F.pad(x, _pairs(pad)), weight, bias, strides, 0, dilations, groups)

    def conv_transpose(self, x, weight, pad, pad_type, strides, dilations, groups, bias=None, output_shape=None):
        assert pad_type == "custom"
        function = {3: F.conv_transpose1d, 4: F.conv_transpose2d, 5: F.conv_transpose3d}[x.ndim]
        full = function(x, weight, bias, strides, 0, 0, groups, dilations)
        for axis in range(2, x.ndim):
            before, after = pad[2 * (axis - 2)], pad[2 * (axis - 2) + 1]
            size = output_shape[axis] if output_shape else full.shape[axis] - before - after
            if before + size > full.shape[axis]:  # what an output shape asks for beyond the full result is the bias
                more = [0, 0] * (full.ndim - axis - 1) + [0, before + size - full.shape[axis]]
                shift = 0 if bias is None else bias.reshape(1, -1, *[1] * (full.ndim - 2))
                full = F.pad(full - shift, more) + shift
            full = full.narrow(axis, before, size)
        return full

    def max_pool(self, x, kernel_sizes, strides, pad_type, ceil_mode, pad=None):
        function = {3: F.max_pool1d, 4: F.max_pool2d, 5: F.max_pool3d}[x.ndim]
        return function(x, kernel_sizes, strides, self._even(pad), 1, ceil_mode)

    def avg_pool(self, x, kernel_sizes, strides, pad_type, ceil_mode, exclude_padding_from_average, pad=None):
        function = {3: F.avg_pool1d, 4: F.avg_pool2d, 5: F.avg_pool3d}[x.ndim]
        return function(x, kernel_sizes, strides, self._even(pad), ceil_mode, not exclude_padding_from_average)

    def _even(self, pad):
        assert not pad or pad[::2] == pad[1::2]
        return pad[::2] if pad else 0

    def upsample_nearest_neighbor(self, x, scale_factor_height, scale_factor_width):
        size = [int(n * f) for n, f in zip(x.shape[2:], (scale_factor_height, scale_factor_width), strict=True)]
        return F.interpolate(x, size=size, mode="nearest")

    def upsample_bilinear(self, x, scale_factor_height, scale_factor_width, align_corners, half_pixel_centers):
        assert half_pixel_centers is not align_corners
        size = [int(n * f) for n, f in zip(x.shape[2:], (scale_factor_height, scale_factor_width), strict=True)]
        return F.interpolate(x, size=size, mode="bilinear", align_corners=align_corners)

    def pixel_shuffle(self, x, upscale_factor):
        return F.pixel_shuffle(x, upscale_factor)

    def pixel_unshuffle(self, x, downscale_factor):
        return F.pixel_unshuffle(x, downscale_factor)

    def batch_norm(self, x, mean, variance, epsilon, gamma=None, beta=None):
        return F.batch_norm(x, mean, variance, gamma, beta, False, 0, epsilon)

    def instance_norm(self, x, epsilon, gamma=None, beta=None):
        return F.instance_norm(x, None, None, gamma, beta, True, 0, epsilon)

    def gather(self, x, indices, axis):
        assert indices.dtype == torch.int32 and x.dtype != torch.bool
        picked = x.index_select(axis, indices.reshape(-1).long())
        return picked.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])

    def gather_along_axis(self, x, indices, axis):
        assert all(x.shape[i] == indices.shape[i] for i in range(x.ndim) if i != axis)
        return x.gather(axis, indices.long())

    def scatter_along_axis(self, data, indices, updates, axis, mode):
        if mode == "add":
            return data.scatter_add(axis, indices.long(), updates)
        return data.scatter(axis, indices.long(), updates)

    def topk(self, x, k, axis, ascending):
        values, indices = x.topk(k, axis, not ascending)
        return values, indices.int()

    def argsort(self, x, axis, ascending):
        return torch.argsort(x, dim=axis, descending=not ascending, stable=True).int()

    def one_hot(self, indices, one_hot_vector_size, axis, on_value, off_value):
        return F.one_hot(indices.long(), one_hot_vector_size).int()

    def cumsum(self, x, axis, exclusive, reverse):
        assert not exclusive and not reverse
        return x.cumsum(axis, dtype=x.dtype)

    def reduce_min(self, x, axes, keep_dims):
        return x.amin(axes, keepdim=keep_dims)

    def reduce_prod(self, x, axes, keep_dims):
        for axis in sorted((each % x.ndim for each in axes), reverse=True):
            x = x.prod(axis, keepdim=keep_dims, dtype=x.dtype)
        return x

    def reduce_l2_norm(self, x, axes, keep_dims):
        return torch.linalg.vector_norm(x, 2, axes, keep_dims)

    def reduce_log_sum_exp(self, x, axes, keep_dims):
        return x.logsumexp(axes, keepdim=keep_dims)

    def reduce_argmax(self, x, axis, keep_dims):
        return x.argmax(axis, keepdim=keep_dims).int()

    def reduce_argmin(self, x, axis, keep_dims):
        return x.argmin(axis, keepdim=keep_dims).int()

    def scaled_dot_product_attention(self, query, key, value, attn_mask=None):
        return F.scaled_dot_product_attention(query, key, value, attn_mask)
