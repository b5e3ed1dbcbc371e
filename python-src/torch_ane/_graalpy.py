"""What GraalPy needs before torch traces anything; nothing elsewhere."""

import sys


def prepare() -> None:
    """Keeps the tensors that torch's tracer files under weak keys.

    On GraalPy a weak reference to a tensor dies when the tensor's Java peer is collected, although C++ still owns the
    tensor; the tracer then takes an intermediate result for a constant. Our own wheel has the cure
    inside torch (``torch.utils.weak.KeptIdRef``); this is for a torch without it.
    """
    if sys.implementation.name != "graalpy":
        return
    from torch.utils import weak

    dictionary = weak.WeakIdKeyDictionary
    if hasattr(weak, "KeptIdRef") or getattr(dictionary, "_torch_ane_strong", False):
        return

    class StrongIdRef(weak.WeakIdRef):
        __slots__ = ("_kept",)

        def __init__(self, key, callback=None):
            super().__init__(key, callback)
            self._kept = key

    initialise = dictionary.__init__

    def strong(self, dict=None, ref_type=StrongIdRef):
        initialise(self, dict, StrongIdRef if ref_type is weak.WeakIdRef else ref_type)

    dictionary.__init__ = strong
    dictionary._torch_ane_strong = True
