"""Views, slices, joins: operations that move values and compute nothing."""

from .context import Context, Value
from .table import lowers


@lowers(
    "aten.contiguous.default",
    "aten.clone.default",
    "aten.alias.default",
    "aten.detach.default",
    "aten.detach_.default",
    "aten.lift_fresh_copy.default",
    "aten.dropout.default",
)
def same(c: Context, a, *_, **__):
    return a


@lowers("aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten._to_copy.default", "aten.type_as.default")
def to(c: Context, a, *_, **__):
    """Float types are one: the program's precision takes the place of every float type of the model."""
    if not isinstance(a, Value) or c.node.dtypes[0].is_floating_point:
        return a
    raise c.refusal(f"it makes a tensor of {c.node.dtypes[0]}; only float tensors are lowered")


@lowers(
    "aten.view.default",
    "aten.reshape.default",
    "aten._unsafe_view.default",
    "aten.flatten.using_ints",
    "aten.unflatten.int",
)
def reshape(c: Context, a, *_):
    x = c.tensor(a)
    return x if x.shape == c.shape else c.emit("reshape", c.shape, x=x, shape=list(c.shape))


@lowers("aten.transpose.int")
def transpose(c: Context, a, first, second):
    x = c.tensor(a)
    perm = list(range(x.rank))
    first, second = x.axis(first), x.axis(second)
    perm[first], perm[second] = second, first
    return _permuted(c, x, perm)


@lowers("aten.permute.default")
def permute(c: Context, a, dims):
    x = c.tensor(a)
    return _permuted(c, x, [x.axis(dim) for dim in dims])


@lowers("aten.t.default")
def t(c: Context, a):
    return _permuted(c, c.tensor(a), [1, 0])


def _permuted(c: Context, x: Value, perm: list[int]) -> Value:
    return x if perm == sorted(perm) else c.emit("transpose", c.shape, x=x, perm=perm)


@lowers("aten.unsqueeze.default")
def unsqueeze(c: Context, a, dim):
    axis = int(dim) + len(c.shape) if dim < 0 else int(dim)
    return c.emit_shared("expand_dims", c.shape, x=c.tensor(a), axes=[axis])


@lowers("aten.squeeze.dim")
def squeeze(c: Context, a, dim):
    x = c.tensor(a)
    return x if x.shape == c.shape else c.emit("squeeze", c.shape, x=x, axes=[x.axis(dim)])


@lowers("aten.slice.Tensor")
def slice_(c: Context, a, dim=0, start=None, end=None, step=1):
    x = c.tensor(a)
    if x.shape == c.shape:
        return x
    axis = x.axis(dim)
    first = max(start + x.shape[axis], 0) if start is not None and start < 0 else start or 0
    begin, stop, stride = [0] * x.rank, list(x.shape), [1] * x.rank
    begin[axis], stop[axis], stride[axis] = first, first + (c.shape[axis] - 1) * step + 1, step
    return c.emit("slice_by_index", c.shape, x=x, begin=begin, end=stop, stride=None if step == 1 else stride)


@lowers("aten.select.int")
def select(c: Context, a, dim, index):
    x = c.tensor(a)
    axis = x.axis(dim)
    begin, end = [0] * x.rank, list(x.shape)
    begin[axis] = index + x.shape[axis] if index < 0 else index
    end[axis] = begin[axis] + 1
    mask = [each == axis for each in range(x.rank)]
    return c.emit("slice_by_index", c.shape, x=x, begin=begin, end=end, squeeze_mask=mask)


@lowers("aten.cat.default")
def cat(c: Context, tensors, dim=0):
    values = [c.tensor(each) for each in tensors]
    return c.emit("concat", c.shape, values=values, axis=int(dim), interleave=False)


@lowers("aten.stack.default")
def stack(c: Context, tensors, dim=0):
    axis = int(dim) + len(c.shape) if dim < 0 else int(dim)
    one = (*c.shape[:axis], 1, *c.shape[axis + 1 :])
    values = [c.emit("expand_dims", one, x=c.tensor(each), axes=[axis]) for each in tensors]
    return c.emit("concat", c.shape, values=values, axis=axis, interleave=False)


@lowers("aten.repeat_interleave.self_int")
def repeat_interleave(c: Context, a, repeats, dim=None, output_size=None):
    x = c.tensor(a)
    if dim is None:
        raise c.refusal("it needs an axis")
    axis = x.axis(dim)
    shape = (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :])
    reps = [1] * len(shape)
    reps[axis + 1] = int(repeats)
    apart = c.emit("expand_dims", shape, x=x, axes=[axis + 1])
    tiled = c.emit("tile", [size * times for size, times in zip(shape, reps, strict=True)], x=apart, reps=reps)
    return c.emit("reshape", c.shape, x=tiled, shape=list(c.shape))


@lowers("aten.chunk.default", "aten.split.Tensor", "aten.split_with_sizes.default")
def split(c: Context, a, _, dim=0):
    x = c.tensor(a)
    axis = x.axis(dim)
    sizes = [shape[axis] for shape in c.node.shapes]
    operands = {"x": x.handle, "split_sizes": sizes, "axis": axis}
    handles = c.function.sink.operation("split", c.title, operands, None)
    return [Value(handle, shape) for handle, shape in zip(list(handles), c.node.shapes, strict=True)]


@lowers("getitem")
def getitem(c: Context, values, index):
    return values[index]


@lowers("aten.expand.default")
def expand(c: Context, a, *_, **__):
    x = c.tensor(a)
    if x.shape == c.shape:
        return x
    if x.rank < len(c.shape):
        shape = (1,) * (len(c.shape) - x.rank) + x.shape
        x = c.emit("reshape", shape, x=x, shape=list(shape))
    return c.emit("tile", c.shape, x=x, reps=[new // old for old, new in zip(x.shape, c.shape, strict=True)])


@lowers("aten.repeat.default")
def repeat(c: Context, a, repeats):
    x = c.tensor(a)
    if len(repeats) != x.rank:
        raise c.refusal(f"it repeats {x.rank} axes as {len(repeats)}")
    return c.emit("tile", c.shape, x=x, reps=[int(each) for each in repeats])
