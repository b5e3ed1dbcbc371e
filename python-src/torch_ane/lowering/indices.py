"""Operations that pick or place elements by their indices."""

from .context import Context, Value
from .table import lowers


@lowers("aten.embedding.default")
def embedding(c: Context, table, ids, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return c.emit("gather", c.shape, x=c.tensor(table, "table"), indices=c.cast(ids, "int"), axis=0)


@lowers("aten.index_select.default")
def index_select(c: Context, a, dim, index):
    x = c.tensor(a)
    return _gather(c, x, c.cast(index, "int"), x.axis(dim))


def _gather(c: Context, x: Value, index: Value, axis: int) -> Value:
    """MIL gathers numbers; truth values go as integers."""
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    found = c.emit("gather", shape, x=c.cast(x, "int") if x.kind == "bool" else x, indices=index, axis=axis)
    return c.cast(found, x.kind)


@lowers("aten.gather.default")
def gather(c: Context, a, dim, index, sparse_grad=False):
    x, at = c.tensor(a), c.cast(index, "int")
    axis = x.axis(dim)
    for other in range(x.rank):  # MIL wants equal sizes on the other axes, torch takes the first elements
        if other != axis and x.shape[other] != at.shape[other]:
            x = c.emit_slice(x, other, 0, at.shape[other])
    kind = x.kind
    found = c.emit("gather_along_axis", c.shape, x=c.cast(x, "int") if kind == "bool" else x, indices=at, axis=axis)
    return c.cast(found, kind)


@lowers("aten.index.Tensor")
def index(c: Context, a, indices):
    """One index tensor is a gather; several of them, on neighbouring axes, one gather over these axes as one."""
    x = c.tensor(a)
    axes = [axis for axis, each in enumerate(indices) if each is not None]
    tensors = [indices[axis] for axis in axes]
    if any(isinstance(each, Value) and each.kind == "bool" for each in tensors):
        raise c.refusal("it picks by truth values, so the shape of its result is not known")
    if axes != list(range(axes[0], axes[-1] + 1)):
        raise c.refusal("it has index tensors on axes that are not neighbours")
    first, last = axes[0], axes[-1]
    if len(axes) == 1:
        return _gather(c, x, c.cast(tensors[0], "int"), first)
    size = x.shape[first]
    flat = _positive(c, tensors[0], size)
    for axis, each in zip(axes[1:], tensors[1:], strict=True):
        step = x.shape[axis]
        size *= step
        before = c.emit("mul", flat.shape, x=flat, y=step)
        at = _positive(c, each, step)
        flat = c.emit("add", _broadcast(before.shape, at.shape), x=before, y=at)
    joined = c.reshaped(x, (*x.shape[:first], size, *x.shape[last + 1 :]))
    return c.reshaped(_gather(c, joined, flat, first), c.shape)


def _broadcast(a: tuple, b: tuple) -> tuple:
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple([max(x, y) for x, y in zip(a, b, strict=True)])


def _positive(c: Context, at, size: int) -> Value:
    """Indices counted from the front, where torch counts negative ones from the end."""
    at = c.cast(at, "int")
    below = c.emit("less", at.shape, x=at, y=0)
    return c.emit("select", at.shape, cond=below, a=c.emit("add", at.shape, x=at, y=size), b=at)


@lowers("aten.topk.default")
def topk(c: Context, a, k, dim=-1, largest=True, sorted=True):
    x = c.tensor(a)
    return _two_results(c, "topk", {"x": x.handle, "k": int(k), "axis": x.axis(dim), "ascending": not largest}, x.kind)


@lowers("aten.sort.default", "aten.sort.stable")
def sort(c: Context, a, dim=-1, descending=False, stable=None):
    x = c.tensor(a)
    axis = x.axis(dim)
    operands = {"x": x.handle, "k": x.shape[axis], "axis": axis, "ascending": not descending}
    return _two_results(c, "topk", operands, x.kind)


def _two_results(c: Context, kind: str, operands: dict, values: str) -> list[Value]:
    first, second = list(c.function.sink.operation(kind, c.title, operands, None))
    return [Value(first, c.shape, values, True), Value(second, c.shape, "int", True)]


@lowers("aten.argsort.default", "aten.argsort.stable")
def argsort(c: Context, a, dim=-1, descending=False, stable=None):
    if c.node.op == "aten.argsort.stable":
        dim, descending = c.node.kwargs.get("dim", -1), c.node.kwargs.get("descending", False)
    x = c.tensor(a)
    return c.emit("argsort", c.shape, x=x, axis=x.axis(dim), ascending=not descending)


@lowers("aten.one_hot.default")
def one_hot(c: Context, ids, classes=-1):
    size = c.shape[-1]
    return c.emit(
        "one_hot", c.shape, indices=c.cast(ids, "int"), one_hot_vector_size=size, axis=-1, on_value=1, off_value=0
    )


@lowers("aten.scatter.src", "aten.scatter.value", "aten.scatter_add.default")
def scatter(c: Context, a, dim, index, source):
    x, at = c.tensor(a), c.cast(index, "int")
    axis = x.axis(dim)
    same = all(x.shape[other] == at.shape[other] for other in range(x.rank) if other != axis)
    new = c.cast(source, x.kind)
    if not isinstance(new, Value):
        new = c.filled(at.shape, new)
    if not same or new.shape != at.shape:
        raise c.refusal(f"its index is {list(at.shape)} for a tensor of {list(x.shape)}: other axes must be equal")
    mode = "add" if c.node.op == "aten.scatter_add.default" else "update"
    return c.emit("scatter_along_axis", c.shape, data=x, indices=at, updates=new, axis=axis, mode=mode)
