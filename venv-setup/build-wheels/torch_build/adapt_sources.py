"""Edits of torch 2.6.0's C and C++ sources for GraalPy, beside GraalPy's own patch (for 2.7.0, see select_patch.py).

    adapt_sources.py SOURCE_DIR

Each edit names what it looks for and fails when that is not there: a changed source must not build by accident.
"""

import sys
from collections.abc import Callable
from pathlib import Path


def replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise SystemExit(f"expected once, found {text.count(old)} times: {old!r}")
    return text.replace(old, new)


def body_replaced(text: str, signature: str, body: str) -> str:
    """The function that begins with `signature` and ends at the next line that is a lone brace, with another body."""
    start = text.index(signature) + len(signature)
    return text[:start] + "\n" + body + text[text.index("\n}", start) :]


def eval_frame(text: str) -> str:
    """TorchDynamo hooks CPython's interpreter loop. The module stays, as on a Python that it does not support yet, and
    using it is refused."""
    text = replaced(text, "#include <opcode.h>\n", "")
    text = replaced(text, "#if !(IS_PYTHON_3_14_PLUS)\n", "#if 0\n")
    text = replaced(
        text,
        "static PyObject* increment_working_threads(",
        "static PyObject* skip_code_recursive_flag;\n"
        "static PyObject* cache_limit_hit_flag;\n"
        "bool is_skip_guard_eval_unsafe = false;\n\n"
        "static PyObject* increment_working_threads(",
    )
    text = replaced(
        text,
        "  // owned by caller\n  Py_INCREF(old_callback);\n",
        "  if (new_callback != old_callback) {\n"
        "    PyErr_SetString(PyExc_NotImplementedError, "
        '"TorchDynamo needs CPython\'s frames: use torch.export with strict=False");\n'
        "    return NULL;\n"
        "  }\n\n"
        "  // owned by caller\n  Py_INCREF(old_callback);\n",
    )
    start = text.index("  extra_index = _PyEval_RequestCodeExtraIndex")
    return text[:start] + text[text.index("  int result = PyThread_tss_create", start) :]


def extra_state(text: str) -> str:
    """A code object of GraalPy has no extra slots, so none is ever found."""
    text = body_replaced(text, "ExtraState* get_extra_state(PyCodeObject* code) {", "  return nullptr;")
    return body_replaced(text, "void set_extra_state(PyCodeObject* code, ExtraState* extra_state) {", "")


def framelocals(text: str) -> str:
    text = replaced(text, "#include <internal/pycore_code.h>\n", "")
    return body_replaced(
        text,
        "PyObject* get_framelocals_mapping(_PyInterpreterFrame* frame) {",
        "  return py::dict().release().ptr();",
    )


def variable(text: str) -> str:
    """make_variable copies a tensor that somebody else holds. A result that a dispatch mode made has been a Python
    object; on CPython that object has died by now, or has handed its share of the tensor to C++, and the tensor is
    unique. On GraalPy it lives until the next collection, and the copy is a tensor that the mode has never seen:
    tracing takes it for a constant. So a tensor that Python knows is returned as it is. Inlined always, since
    libtorch_cpu exports its own copy of this function."""
    signature = "inline Variable make_variable(\n    at::Tensor data,\n"
    text = replaced(text, signature, "C10_ALWAYS_INLINE " + signature.removeprefix("inline "))
    start = text.index("C10_ALWAYS_INLINE Variable make_variable(")
    guard = "  if (data.defined()) {\n"
    at = text.index(guard, start) + len(guard)
    return (
        text[:at]
        + "    auto* known = data.unsafeGetTensorImpl();\n"
        + "    if (!requires_grad && !known->requires_grad() &&\n"
        + "        (known->is_python_dispatch() ||\n"
        + "         known->pyobj_slot()->_unchecked_untagged_pyobj() != nullptr)) {\n"
        + "      return data;\n"
        + "    }\n"
        + text[at:]
    )


def tensor_new(text: str) -> str:
    """GraalPy looks at the old contents of a buffer that it fills."""
    return replaced(text, "  Py_buffer view;\n", "  Py_buffer view{};\n")


EDITS: dict[str, Callable[[str], str]] = {
    "torch/csrc/dynamo/eval_frame.c": eval_frame,
    "torch/csrc/dynamo/extra_state.cpp": extra_state,
    "torch/csrc/dynamo/framelocals_mapping.cpp": framelocals,
    "torch/csrc/autograd/variable.h": variable,
    "torch/csrc/utils/tensor_new.cpp": tensor_new,
}


def main() -> None:
    root = Path(sys.argv[1])
    for name, edit in EDITS.items():
        path = root / name
        path.write_text(edit(path.read_text()))
        print(f"adapted {name}")


if __name__ == "__main__":
    main()
