"""Writes the build.ninja that compiles libtorch_python for GraalPy.

libtorch_cpu and libc10 are PyPI's own, so this is a build of the Python bindings alone: the core list of
build_variables.bzl without ONNX, the generated bindings, and our own stand-in for the ONNX module.

    ninja_file.py --source DIR --wheel DIR --python-include DIR --pybind11 DIR --numpy-include DIR
                  --system-include DIR --extra-source FILE --prefix-map DIR=NAME [--prefix-map ...]
"""

import argparse
from pathlib import Path

GENERATED = [
    *(f"python_functions_{n}" for n in range(5)),
    *(f"python_torch_functions_{n}" for n in range(3)),
    "python_enum_tag",
    "python_fft_functions",
    "python_linalg_functions",
    "python_nested_functions",
    "python_nn_functions",
    "python_return_types",
    "python_sparse_functions",
    "python_special_functions",
    "python_variable_methods",
]

DEFINES = [
    "AT_PER_OPERATOR_HEADERS",
    "FMT_HEADER_ONLY=1",
    "HAVE_MMAP=1",
    "HAVE_SHM_OPEN=1",
    "HAVE_SHM_UNLINK=1",
    "NDEBUG",
    "ONNX_NAMESPACE=onnx_torch",
    "THP_BUILD_MAIN_LIB",
    "USE_EXTERNAL_MZCRC",
    "USE_NUMPY",
    "_FILE_OFFSET_BITS=64",
    "_GLIBCXX_USE_CXX11_ABI=0",  # the ABI of PyPI's libtorch_cpu
    'PYBIND11_COMPILER_TYPE=\\"_gcc\\"',
    'PYBIND11_STDLIB=\\"_libstdcpp\\"',
    'PYBIND11_BUILD_ABI=\\"_cxxabi1011\\"',
]

# Not the wheel's libgomp: it would be noted under its own name, libgomp.so.1, and the loader would take the system's for
# that. Its functions come with libtorch_cpu.
LIBRARIES = ["libtorch_cpu.so", "libc10.so", "libshm.so"]

TEMPLATE = """\
flags = -O1 -g0 -fPIC -w -fno-strict-aliasing {maps} {defines} {includes}

rule cxx
  command = g++ -std=c++17 -fopenmp $flags -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = C++ $out

rule cc
  command = gcc $flags -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = C $out

rule link
  command = g++ -shared -o $out @$out.rsp {libraries} -Wl,-rpath,'$$ORIGIN' -Wl,-soname,$out -Wl,-s
  rspfile = $out.rsp
  rspfile_content = $in
  description = link $out

"""


def sources(root: Path) -> list[Path]:
    lists: dict = {}
    exec((root / "build_variables.bzl").read_text(), lists)  # noqa: S102 (Starlark that is also Python)
    core = [s for s in lists["libtorch_python_core_sources"] if "/onnx" not in s]
    return [root / s for s in core] + [root / f"torch/csrc/autograd/generated/{name}.cpp" for name in GENERATED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "wheel", "python-include", "pybind11", "numpy-include", "system-include", "extra-source"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("--prefix-map", action="append", default=[])
    args = parser.parse_args()
    root, wheel = args.source, args.wheel
    includes = [
        args.pybind11,
        args.python_include,
        root,  # the patched headers stand before the wheel's
        wheel / "include",
        root / "torch/csrc/api/include",
        root / "torch/csrc",
        root / "torch/lib",
        root / "torch/lib/libshm",
        wheel / "include/torch/csrc/api/include",
        wheel / "include/kineto",
        root / "third_party/valgrind-headers",
        args.numpy_include,
        root / "aten/src",
        args.system_include,
    ]
    text = TEMPLATE.format(
        maps=" ".join(f"-ffile-prefix-map={pair}" for pair in args.prefix_map),
        defines=" ".join(f"-D{define}" for define in DEFINES),
        includes=" ".join(f"-I{folder}" for folder in includes),
        libraries=" ".join([f"-L{wheel}/lib", *(f"-l:{library}" for library in LIBRARIES)]),
    )
    objects = []
    for source in [*sources(root), args.extra_source]:
        if not source.exists():
            raise SystemExit(f"{source} is in the list of sources and not in the tree: was the code generator run?")
        name = source.relative_to(root) if source.is_relative_to(root) else source.name
        target = "obj/" + str(name).replace("/", "_") + ".o"
        text += f"build {target}: {'cc' if source.suffix == '.c' else 'cxx'} {source}\n"
        objects.append(target)
    text += f"build libtorch_python.so: link {' '.join(objects)}\ndefault libtorch_python.so\n"
    Path("build.ninja").write_text(text)
    print(f"build.ninja: {len(objects)} sources")


if __name__ == "__main__":
    main()
