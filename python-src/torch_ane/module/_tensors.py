"""Tensors out of the files that ``torch.save`` writes, without unpickling them.

A file is a zip with a pickle that says which tensors there are, and their bytes beside it. The pickle is read as data:
a small machine knows the operations that make dicts, tuples, numbers and strings, and the three functions that stand
for tensors. Whatever else it names is refused, and nothing of it is ever imported or called.
"""

import pickletools
import zipfile
from io import BytesIO

import torch


class TensorFileError(Exception):
    """A file is no tensor file, or holds something else than tensors; the message names it."""


_STORAGES = {
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = (
    *("BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE", "SHORT_BINUNICODE"),
    *("BINFLOAT", "SHORT_BINSTRING", "BINSTRING", "INT", "LONG"),
)
_MARK = object()


def read_tensors(data: bytes, what: str) -> dict:
    """The dict that was saved: tensors by name, maybe with plain values among them."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            (pickle,) = [name for name in archive.namelist() if name.endswith("/data.pkl") or name == "data.pkl"]
            root = pickle[: -len("data.pkl")]
            if root + "byteorder" in archive.namelist() and archive.read(root + "byteorder") != b"little":
                raise TensorFileError(f"{what} was written by a big-endian machine")
            found = _Machine(lambda key: archive.read(f"{root}data/{key}"), what).run(archive.read(pickle))
    except (zipfile.BadZipFile, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise TensorFileError(f"{what} is no file of torch.save, or is damaged: {error!r}") from error
    if not isinstance(found, dict):
        raise TensorFileError(f"{what} holds a {type(found).__name__}, not a dict of tensors")
    return found


class _Machine:
    def __init__(self, storage, what: str):
        self._storage, self._what = storage, what
        self._stack: list = []
        self._memo: dict = {}

    def run(self, pickle: bytes):
        for operation, argument, _ in pickletools.genops(pickle):
            name = operation.name
            if name == "STOP":
                return self._stack.pop()
            if name in _LITERALS:
                self._stack.append(argument)
            elif name in _CONSTANTS:
                self._stack.append(_CONSTANTS[name])
            elif name not in ("PROTO", "FRAME"):
                step = getattr(self, f"_{name.lower()}", None)
                if step is None:
                    raise TensorFileError(
                        f"{self._what} is pickled with the operation {name}, which tensors do not need"
                    )
                step(argument)
        raise TensorFileError(f"{self._what} ends in the middle")

    def _since_mark(self) -> list:
        items = []
        while (item := self._stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]

    def _mark(self, _):
        self._stack.append(_MARK)

    def _empty_dict(self, _):
        self._stack.append({})

    def _empty_tuple(self, _):
        self._stack.append(())

    def _empty_list(self, _):
        self._stack.append([])

    def _tuple(self, _):
        self._stack.append(tuple(self._since_mark()))

    def _tuple1(self, _):
        self._stack[-1:] = [tuple(self._stack[-1:])]

    def _tuple2(self, _):
        self._stack[-2:] = [tuple(self._stack[-2:])]

    def _tuple3(self, _):
        self._stack[-3:] = [tuple(self._stack[-3:])]

    def _binput(self, index):
        self._memo[index] = self._stack[-1]

    _long_binput = _binput

    def _memoize(self, _):
        self._memo[len(self._memo)] = self._stack[-1]

    def _binget(self, index):
        self._stack.append(self._memo[index])

    _long_binget = _binget

    def _setitem(self, _):
        value, key = self._stack.pop(), self._stack.pop()
        self._stack[-1][key] = value

    def _setitems(self, _):
        items = self._since_mark()
        self._stack[-1].update(zip(items[::2], items[1::2], strict=True))

    def _append(self, _):
        value = self._stack.pop()
        self._stack[-1].append(value)

    def _appends(self, _):
        items = self._since_mark()
        self._stack[-1].extend(items)

    def _build(self, _):
        self._stack.pop()  # the _metadata of a state dict

    def _global(self, argument):
        module, name = argument.split(" ")
        known = {
            "collections OrderedDict": dict,
            "torch._utils _rebuild_tensor_v2": self._tensor,
            "torch._utils _rebuild_parameter": lambda data, *_: data,
        }
        if argument in known:
            self._stack.append(known[argument])
        elif module == "torch" and name in _STORAGES:
            self._stack.append(_STORAGES[name])
        else:
            raise TensorFileError(f"{self._what} names {module}.{name}, which is no tensor; it was not run")

    def _stack_global(self, _):
        name, module = self._stack.pop(), self._stack.pop()
        self._global(f"{module} {name}")

    def _binpersid(self, _):
        kind, dtype, key, _, _ = self._stack.pop()
        if kind != "storage" or not isinstance(dtype, torch.dtype):
            raise TensorFileError(f"{self._what} refers to {kind!r}, expected a storage")
        self._stack.append((dtype, bytearray(self._storage(key))))

    def _reduce(self, _):
        arguments, function = self._stack.pop(), self._stack.pop()
        if not callable(function):
            raise TensorFileError(f"{self._what} calls {function!r}")
        self._stack.append(function(*arguments))

    def _tensor(self, storage, offset, size, stride, *_):
        dtype, data = storage
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) + 1
        if min((offset, *size, *stride), default=0) < 0 or (0 not in size and last * dtype.itemsize > len(data)):
            raise TensorFileError(f"{self._what} has a tensor of {list(size)} that is larger than its storage")
        if 0 in size:
            return torch.empty(size, dtype=dtype)
        return torch.frombuffer(data, dtype=dtype).as_strided(size, stride, offset)
