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
    "aten.lift_fresh.default",
    "aten.dropout.default",
    "aten.feature_dropout.default",
    "aten.alpha_dropout.default",
    "aten.positive.default",
    "aten.conj.default",
    "aten.resolve_conj.default",
    "aten.resolve_neg.default",
    "aten.copy.default",
)
def same(c: Context, a, *rest, **__):
    if c.node.op == "aten.copy.default":
        return expand(c, c.cast(rest[0], c.kind))
    return a


@lowers(
    "aten._assert_tensor_metadata.default",
    "aten._assert_scalar.default",
    "aten._assert_async.msg",
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default",
    "_set_grad_enabled",
)
def nothing(c: Context, *_, **__):
    return None


@lowers(
    "aten.to.dtype",
    "aten.to.dtype_layout",
    "aten.to.device",
    "aten.to.other",
    "aten._to_copy.default",
    "aten.type_as.default",
    "prims.convert_element_type.default",
)
def to(c: Context, a, *_, **__):
    """Float types are one: the program's precision takes the place of every float type of the model."""
    if not isinstance(a, Value):
        return a
    if c.node.dtypes[0].is_complex:
        raise c.refusal(f"it makes a tensor of {c.node.dtypes[0]}; complex numbers are not lowered")
    return c.cast(a, c.kind)


@lowers(
    "aten.view.default",
    "aten.reshape.default",
    "aten._unsafe_view.default",
    "aten.flatten.using_ints",
    "aten.unflatten.int",
    "aten.view_as.default",
    "aten.reshape_as.default",
    "aten.ravel.default",
    "aten.view_copy.default",
    "aten.atleast_1d.default",
)
def reshape(c: Context, a, *_):
    x = c.tensor(a)
    return x if x.shape == c.shape else c.emit("reshape", c.shape, x=x, shape=list(c.shape))


@lowers("aten.transpose.int", "aten.swapaxes.default", "aten.swapdims.default")
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


@lowers("aten.t.default", "aten.numpy_T.default", "aten.mT.default", "aten.adjoint.default")
def t(c: Context, a):
    x = c.tensor(a)
    perm = list(range(x.rank))
    if c.node.op == "aten.numpy_T.default":
        perm.reverse()
    elif x.rank > 1:
        perm[-2:] = [x.rank - 1, x.rank - 2]
    return c.permuted(x, perm)


@lowers("aten.movedim.int", "aten.movedim.intlist")
def movedim(c: Context, a, source, destination):
    x = c.tensor(a)
    sources = [x.axis(each) for each in ([source] if isinstance(source, int) else source)]
    targets = [x.axis(each) for each in ([destination] if isinstance(destination, int) else destination)]
    perm = [axis for axis in range(x.rank) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        perm.insert(target, axis)
    return c.permuted(x, perm)


def _permuted(c: Context, x: Value, perm: list[int]) -> Value:
    return x if perm == sorted(perm) else c.emit("transpose", c.shape, x=x, perm=perm)


@lowers("aten.unsqueeze.default")
def unsqueeze(c: Context, a, dim):
    axis = int(dim) + len(c.shape) if dim < 0 else int(dim)
    return c.emit_shared("expand_dims", c.shape, x=c.tensor(a), axes=[axis])


@lowers("aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze.default")
def squeeze(c: Context, a, dim=None):
    x = c.tensor(a)
    if x.shape == c.shape:
        return x
    dims = range(x.rank) if dim is None else [dim] if isinstance(dim, int) else dim
    return c.emit("squeeze", c.shape, x=x, axes=[axis for axis in map(x.axis, dims) if x.shape[axis] == 1])


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


@lowers("aten.narrow.default")
def narrow(c: Context, a, dim, start, length):
    return slice_(c, a, dim, start)


@lowers("aten.flip.default")
def flip(c: Context, a, dims):
    x = c.tensor(a)
    return c.emit("reverse", c.shape, x=x, axes=[x.axis(dim) for dim in dims])


@lowers("aten.roll.default")
def roll(c: Context, a, shifts, dims=()):
    x = c.tensor(a)
    shifts, dims = ([each] if isinstance(each, int) else list(each) for each in (shifts, dims))
    if not dims:
        raise c.refusal("it rolls without an axis")
    for shift, dim in zip(shifts, dims, strict=True):
        axis = x.axis(dim)
        size = x.shape[axis]
        cut = -shift % size
        if cut:
            parts = _parts(c, x, axis, [cut, size - cut])
            x = c.emit("concat", x.shape, values=parts[::-1], axis=axis, interleave=False)
    return x


def _parts(c: Context, x: Value, axis: int, sizes: list[int]) -> list[Value]:
    operands = {"x": x.handle, "split_sizes": sizes, "axis": axis}
    handles = c.function.sink.operation("split", c.title, operands, None)
    shapes = [(*x.shape[:axis], size, *x.shape[axis + 1 :]) for size in sizes]
    return [Value(handle, shape, x.kind, True) for handle, shape in zip(list(handles), shapes, strict=True)]


@lowers("aten.cat.default", "aten.concat.default", "aten.concatenate.default")
def cat(c: Context, tensors, dim=0):
    values = [c.cast(each, c.kind) for each in tensors]
    values = [each for each in values if each.shape != (0,)]
    if len(values) == 1:
        return values[0]
    return c.emit("concat", c.shape, values=values, axis=int(dim), interleave=False)


@lowers("aten.stack.default")
def stack(c: Context, tensors, dim=0):
    axis = int(dim) + len(c.shape) if dim < 0 else int(dim)
    one = (*c.shape[:axis], 1, *c.shape[axis + 1 :])
    values = [c.emit("expand_dims", one, x=c.cast(each, c.kind), axes=[axis]) for each in tensors]
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


@lowers(
    "aten.chunk.default",
    "aten.split.Tensor",
    "aten.split.sizes",
    "aten.split_with_sizes.default",
    "aten.tensor_split.sections",
)
def split(c: Context, a, _, dim=0):
    x = c.tensor(a)
    axis = x.axis(dim)
    return _parts(c, x, axis, [shape[axis] for shape in c.node.shapes])


@lowers("aten.unbind.int")
def unbind(c: Context, a, dim=0):
    x = c.tensor(a)
    axis = x.axis(dim)
    parts = _parts(c, x, axis, [1] * x.shape[axis])
    return [c.emit("squeeze", shape, x=part, axes=[axis]) for part, shape in zip(parts, c.node.shapes, strict=True)]


@lowers("getitem")
def getitem(c: Context, values, index):
    return values[index]


@lowers("aten.expand.default", "aten.expand_as.default", "aten.broadcast_to.default")
def expand(c: Context, a, *_, **__):
    x = c.tensor(a)
    if x.shape == c.shape:
        return x
    if x.rank < len(c.shape):
        shape = (1,) * (len(c.shape) - x.rank) + x.shape
        x = c.emit("reshape", shape, x=x, shape=list(shape))
    return c.emit("tile", c.shape, x=x, reps=[new // old for old, new in zip(x.shape, c.shape, strict=True)])


@lowers("aten.repeat.default", "aten.tile.default")
def repeat(c: Context, a, repeats):
    x = c.tensor(a)
    repeats = [1] * (x.rank - len(repeats)) + list(repeats)
    x = c.reshaped(x, (1,) * (len(repeats) - x.rank) + x.shape)
    return c.emit("tile", c.shape, x=x, reps=[int(each) for each in repeats])


@lowers("aten.tril.default", "aten.triu.default")
def triangle(c: Context, a, diagonal=0):
    """A product with the triangle, which is known."""
    x = c.tensor(a)
    rows, columns = x.shape[-2:]
    lower = c.node.op == "aten.tril.default"
    inside = [(j <= i + diagonal) if lower else (j >= i + diagonal) for i in range(rows) for j in range(columns)]
    mask = c.function.sink.operation(
        "reshape", c.title, {"x": c.constant([int(each) for each in inside]), "shape": [rows, columns]}, None
    )
    number = 0 if x.kind == "int" else 0.0
    if x.kind == "bool":
        return c.emit("logical_and", c.shape, x=x, y=c.cast(Value(mask, (rows, columns), "int"), "bool"))
    return c.emit("select", c.shape, cond=c.cast(Value(mask, (rows, columns), "int"), "bool"), a=x, b=number)


@lowers("aten.slice_scatter.default", "aten.select_scatter.default")
def slice_scatter(c: Context, a, update, dim=0, start=None, end=None, step=1):
    x, new = c.tensor(a), c.cast(update, c.kind)
    axis = x.axis(dim)
    size = x.shape[axis]
    if c.node.op == "aten.select_scatter.default":
        new = c.emit("expand_dims", (*new.shape[:axis], 1, *new.shape[axis:]), x=new, axes=[axis])
        step = 1
    if step != 1:
        raise c.refusal(f"its step is {step}, not 1")
    first = 0 if start is None else start + size if start < 0 else start
    parts = [c.emit_slice(x, axis, 0, first)] if first else []
    parts.append(new)
    if first + new.shape[axis] < size:
        parts.append(c.emit_slice(x, axis, first + new.shape[axis], size))
    return new if len(parts) == 1 else c.emit("concat", c.shape, values=parts, axis=axis, interleave=False)
