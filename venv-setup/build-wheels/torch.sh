#!/bin/bash
# torch 2.6.0 for GraalPy: the Python bindings compiled against PyPI's own libtorch_cpu. About 25 minutes on two processors.
# The four libraries that PyPI's wheel already has (libtorch_cpu, libc10, libshm, libgomp) are not in the result; the installer adds them.
source "$(dirname "$0")/common.sh"
need gcc g++ ninja patch nm mvn
host_python
graalpy_launcher
build=$work/torch
source=$build/source
wheel=$build/wheel
tree=$build/tree

fetch_cpython_wheel torch==2.6.0 torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl 2bb8987f3bb1ef2675897034402373ddfc8f5ef0e156e2d8cfc47cacafdda4a9
fetch_cpython_wheel numpy==2.2.6 numpy-2.2.6-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl \
  fd83c01228a688733f1ded5201c678f0c53ecc1006ffbc404db9f7a899ac6249
tarball=pytorch_2.6.0+dfsg.orig.tar.xz
if [ ! -f "$downloads/$tarball" ]; then
  say "fetching $tarball"
  debian_release trixie
  (cd "$downloads" && "${apt[@]}" source --download-only --tar-only pytorch=2.6.0+dfsg-7 >&2)
fi
verify "$downloads/$tarball" 099a9601bc40d67656e75735c44abedb0fbe92d08817852ab7472eebb7e6ddff

# fetch_debian PACKAGE=VERSION FILE SHA256
fetch_debian() {
  if [ ! -f "$downloads/$2" ]; then
    debian_release trixie
    (cd "$downloads" && "${apt[@]}" download "$1" >&2)
  fi
  verify "$downloads/$2" "$3"
  dpkg-deb -x "$downloads/$2" "$build/system"
}

prepare() {
  say "unpacking"
  fresh "$build"
  mkdir -p "$source" "$build/headers"
  tar -xJf "$downloads/$tarball" -C "$source" --strip-components=1
  fetch_debian libfmt-dev=10.1.1+ds1-4 libfmt-dev_10.1.1+ds1-4_amd64.deb c084df80e2842bc57157e8def529f4ca6bc8743d005550b56a5ef96c9bc92f0f
  fetch_debian nlohmann-json3-dev=3.11.3-2.1 nlohmann-json3-dev_3.11.3-2.1_all.deb 741a6a32f61a14eaf9560ba1814b27da8e78fa3b9bed9e8867ab46316ddf3793
  python3 - "$downloads" "$wheel" "$build/numpy" << 'END'
import sys
import zipfile
from pathlib import Path

downloads, wheel, numpy = map(Path, sys.argv[1:])
big = {"libtorch_cpu.so", "libc10.so", "libshm.so", "libgomp-a34b3233.so.1"}
with zipfile.ZipFile(next(downloads.glob("torch-2.6.0-cp312-*.whl"))) as archive:
    archive.extractall(wheel, [n for n in archive.namelist() if not n.startswith("torch/lib/") or Path(n).name in big])
with zipfile.ZipFile(next(downloads.glob("numpy-2.2.6-cp312-*.whl"))) as archive:
    archive.extractall(numpy, [n for n in archive.namelist() if n.startswith("numpy/_core/include/")])
END
  say "generating bindings"
  (cd "$source" && "$host/bin/python" -m tools.setup_helpers.generate_code --native-functions-path aten/src/ATen/native/native_functions.yaml \
    --tags-path aten/src/ATen/native/tags.yaml --force_schema_registration --gen_lazy_ts_backend)
  say "adapting to GraalPy"
  cp -r "$wheel/torch/include/pybind11" "$build/headers/pybind11"
  autopatch "$build/headers/pybind11" "$source/torch/csrc"
  local patch
  patch=$(graalpy_patch torch-2.7.0.patch)
  python3 "$here/torch_build/select_patch.py" "$patch" third_party/pybind11/include/pybind11/=pybind11/ | patch -p1 -d "$build/headers"
  python3 "$here/torch_build/select_patch.py" "$patch" torch/csrc/Generator.cpp torch/csrc/Module.cpp torch/csrc/autograd/ \
    torch/csrc/dynamo/cpython_defs.c torch/csrc/dynamo/guards.cpp torch/csrc/jit/ torch/csrc/profiler/ | patch -p1 -d "$source"
  python3 "$here/torch_build/adapt_sources.py" "$source"
  touch "$build/prepared"
}

compile() {
  say "compiling"
  mkdir -p "$build/objects"
  cd "$build/objects"
  python3 "$here/torch_build/ninja_file.py" --source "$source" --wheel "$wheel/torch" --python-include "$graalpy_include" --pybind11 "$build/headers" \
    --numpy-include "$build/numpy/numpy/_core/include" --system-include "$build/system/usr/include" --extra-source "$here/torch_build/onnx_bindings.cpp" \
    --prefix-map "$source=torch-2.6.0" --prefix-map "$graalpy_home=graalpy" --prefix-map "$build=build" --prefix-map "$here=build-wheels"
  ninja -j "$jobs"
  cd - > /dev/null
}

# stand_in SONAME: a library with the functions that libtorch_cpu's profiler wants of that one, each answering that there is no such device
stand_in() {
  local soname=$1 code=$build/stand-ins/$1.c
  mkdir -p "$build/stand-ins"
  nm -D --undefined-only "$wheel/torch/lib/libtorch_cpu.so" | awk -v suffix="@$soname" '
    index($2, suffix) { name = substr($2, 1, index($2, "@") - 1) } !index($2, suffix) { next }
    name == "cudaGetErrorString" { print "const char *" name "(int error) { return \"this build of torch has no CUDA\"; }"; next }
    name == "cuptiGetResultString" { print "int " name "(int result, const char **text) { *text = \"this build of torch has no CUPTI\"; return 0; }"; next }
    name == "cudaGetDeviceCount" || name ~ /Version$/ { print "int " name "(unsigned *value) { *value = 0; return 100; }"; next }
    { print "int " name "(void) { return " (name ~ /^cuda/ ? 100 : 15) "; }" }  # cudaErrorNoDevice, CUPTI_ERROR_NOT_INITIALIZED
  ' > "$code"
  [ -s "$code" ] || fail "libtorch_cpu wants nothing of $soname: is this another build of torch?"
  echo "$soname { global: *; };" > "$build/stand-ins/$soname.map"
  gcc -shared -O1 -fPIC -w "$code" -o "$tree/torch/lib/$soname" -Wl,-soname,"$soname",--version-script="$build/stand-ins/$soname.map",-s
}

assemble() {
  say "assembling"
  fresh "$tree"
  # PyPI's Python files; not its C++ headers, libraries, tools and type stubs
  (cd "$wheel" && find torch torchgen functorch -type f ! -path 'torch/include/*' ! -path 'torch/lib/*' ! -path 'torch/share/*' ! -path 'torch/bin/*' \
    ! -name '*.so' ! -name '*.pyi' -print0 | tar --null -T - -cf - | tar -xf - -C "$tree")
  python3 "$here/torch_build/adapt_python.py" "$tree"
  mkdir -p "$tree/torch/lib" "$tree/torch/bin"
  cp "$wheel/torch/bin/torch_shm_manager" "$tree/torch/bin/"
  cp "$build/objects/libtorch_python.so" "$tree/torch/lib/"
  gcc -shared -O1 -fPIC -w -I"$graalpy_include" "$source/torch/csrc/stub.c" -o "$tree/torch/_C$extension_suffix" \
    -L"$build/objects" -ltorch_python -Wl,--allow-shlib-undefined,-rpath,'$ORIGIN/lib',-s
  stand_in libcudart.so.12
  stand_in libcupti.so.12
  # torch loads these two by name: one pulls in libtorch_cpu, the other nothing
  echo > "$build/empty.c"
  gcc -shared -fPIC "$build/empty.c" -o "$tree/torch/lib/libtorch.so" -Wl,--no-as-needed -L"$wheel/torch/lib" -l:libtorch_cpu.so -l:libc10.so \
    -Wl,--allow-shlib-undefined,-soname,libtorch.so,-rpath,'$ORIGIN',-s
  gcc -shared -fPIC "$build/empty.c" -o "$tree/torch/lib/libtorch_global_deps.so" -Wl,-soname,libtorch_global_deps.so,-s
  local info=$tree/torch-2.6.0.dist-info
  mkdir -p "$info"
  cp "$wheel"/torch-2.6.0.dist-info/{LICENSE,NOTICE,top_level.txt,entry_points.txt} "$info/"
  grep -v -E '^Requires-Dist: (nvidia-|triton)' "$wheel/torch-2.6.0.dist-info/METADATA" > "$info/METADATA"
  pack "$tree"
}

[ -f "$build/prepared" ] || prepare
compile
assemble
