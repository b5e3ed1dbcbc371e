"""Edits of torch 2.6.0's Python files for GraalPy.

    adapt_python.py SITE_PACKAGES

Where CPython destroys an object at once because nobody refers to it any more, GraalPy does so when it collects; and a
weak reference to a tensor dies with the tensor's Java peer, although C++ may still own the tensor and hand it out
again. Most edits follow from these two. Each names what it looks for and fails when that is not there.
"""

import sys
from pathlib import Path

# file: [(old, new), …]; every old text occurs exactly once
EDITS: dict[str, list[tuple[str, str]]] = {
    # Our build has no CUDA.
    "torch/version.py": [
        ("__version__ = '2.6.0+cu124'\n", "__version__ = '2.6.0'\n"),
        ("cuda: Optional[str] = '12.4'\n", "cuda: Optional[str] = None\n"),
    ],
    # Tracing keeps what it knows about tensors in dictionaries with weak keys. Entries whose tensor is alive in C++
    # must not vanish, or an intermediate result turns into a constant of the graph. These dictionaries live as long as
    # one trace, so keeping the keys costs little.
    "torch/utils/weak.py": [
        (
            "# This is the same as WeakIdRef but equality is checked",
            '''class KeptIdRef:
    """A WeakIdRef that keeps its object: on GraalPy a weak reference to a tensor may die before the tensor."""

    __slots__ = ["_id", "_kept"]

    def __init__(self, key, callback=None):
        self._id = id(key)
        self._kept = key

    def __call__(self):
        return self._kept

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        return self is other or (
            isinstance(other, KeptIdRef) and self._kept is other._kept
        )


# This is the same as WeakIdRef but equality is checked''',
        ),
        (
            "def __init__(self, dict=None, ref_type=WeakIdRef):",
            "def __init__(self, dict=None, ref_type=KeptIdRef):",
        ),
    ],
    "torch/_subclasses/meta_utils.py": [
        (
            """        self.storage_memo: weakref.WeakValueDictionary[
            MetaStorageId, torch.UntypedStorage
        ] = weakref.WeakValueDictionary()""",
            "        self.storage_memo: Dict[MetaStorageId, torch.UntypedStorage] = {}",
        ),
        (
            """        self.tensor_memo: weakref.WeakValueDictionary[
            MetaTensorId, _TensorT
        ] = weakref.WeakValueDictionary()""",
            "        self.tensor_memo: Dict[MetaTensorId, _TensorT] = {}",
        ),
    ],
    "torch/_subclasses/fake_tensor.py": [
        (
            "self.constant_storage_mapping[weak_st].append(weakref.ref(fake_tensor))",
            "self.constant_storage_mapping[weak_st].append(KeptIdRef(fake_tensor))",
        ),
        (
            "from torch.utils._traceback import CapturedTraceback\n",
            "from torch.utils._traceback import CapturedTraceback\nfrom torch.utils.weak import KeptIdRef\n",
        ),
    ],
    # GraalPy's functions of `operator` and `math` are not builtins to inspect.isbuiltin.
    "torch/_export/verifier.py": [
        (
            "                assert all(inspect.isbuiltin(op) for op in ret)\n",
            "                assert all(callable(op) for op in ret)\n",
        ),
    ],
    # There is no frame evaluation to skip, and signatures of GraalPy's builtins are spelled differently from those of
    # their traceable twins.
    "torch/_dynamo/decorators.py": [
        ("import inspect\nfrom dataclasses", "import inspect\nimport sys\nfrom dataclasses"),
        ("    skip_code(fn.__code__)\n    fn._torchdynamo_disable = True\n", "    fn._torchdynamo_disable = True\n"),
        (
            "                    sig_ident(original_sig) != sig_ident(traceable_sig)\n",
            (
                '                    sys.implementation.name != "graalpy"\n'
                "                    and sig_ident(original_sig) != sig_ident(traceable_sig)\n"
            ),
        ),
    ],
    # Guards that end when their object dies: say when instead.
    "torch/_tensor_str.py": [
        (
            (
                "        guard = torch._C._DisableFuncTorch()\n"
                "        return _str_intern(self, tensor_contents=tensor_contents)"
            ),
            (
                "        with torch._C._DisableFuncTorch():\n"
                "            return _str_intern(self, tensor_contents=tensor_contents)"
            ),
        ),
    ],
    "torch/sparse/_semi_structured_ops.py": [
        (
            "    guard = torch._C._DisableTorchDispatch()\n    try:\n        yield\n    finally:\n        del guard\n",
            "    with torch._C._DisableTorchDispatch():\n        yield\n",
        ),
    ],
}


def main() -> None:
    root = Path(sys.argv[1])
    for name, edits in EDITS.items():
        path = root / name
        text = path.read_text()
        for old, new in edits:
            if text.count(old) != 1:
                raise SystemExit(f"{name}: expected once, found {text.count(old)} times: {old!r}")
            text = text.replace(old, new)
        path.write_text(text)
        print(f"adapted {name}")


if __name__ == "__main__":
    main()
