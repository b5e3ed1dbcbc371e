"""Keys and values kept between calls, and the marks where decoder layers go."""

from .context import Context, StateRef, Value
from .table import lowers


@lowers("torch_ane.kv_write.default")
def kv_write(c: Context, cache: StateRef, new, layer, step):
    """``read_state``, ``slice_update`` at column ``step`` of this layer's row, ``write_state``."""
    update = c.tensor(new)
    _, _, heads, rows, dim = update.shape
    begin = _position(c, "begin", [c.layer, 0, 0], step, 0)
    end = _position(c, "end", [c.layer + 1, 1, heads], _after(c, step, rows), dim)
    before = c.emit("read_state", cache.shape, input=cache)
    after = c.emit("slice_update", cache.shape, x=before, update=update, begin=begin, end=end)
    c.emit("write_state", cache.shape, input=cache, data=after)
    return cache


def _after(c: Context, step: Value, rows: int) -> Value:
    return c.emit_shared("add", (1,), x=step, y=rows)


def _position(c: Context, what: str, before: list[int], column: Value, last: int) -> Value:
    """Keys and values are written at the same place, so it is computed once for each layer."""
    key = (what, tuple(before), id(column), last)
    shared = c.function.shared
    if key not in shared:
        values = [c.constant([number]) for number in before] + [column.handle, c.constant([last])]
        shared[key] = c.emit("concat", (5,), values=values, axis=0, interleave=False)
    return shared[key]


@lowers("torch_ane.kv_read.default")
def kv_read(c: Context, cache: StateRef, layer):
    state = c.emit("read_state", cache.shape, input=cache)
    _, *one = cache.shape
    return c.emit(
        "slice_by_index",
        one,
        x=state,
        begin=[c.layer, 0, 0, 0, 0],
        end=[c.layer + 1, *one],
        squeeze_mask=[True, False, False, False, False],
    )


@lowers("torch_ane.layer.default")
def layer(c: Context, hidden, cos, sin, mask, index):
    if c.inline is None:
        raise c.refusal("there is no decoder layer to put here")
    node, gates = c.node, c.gates
    result = c.inline(int(index), c.tensor(hidden), (cos, sin, mask))
    c.node, c.gates = node, gates
    return result
