#!/bin/bash
# Unpacks the wheelhouse into a fresh GraalPy environment, with torch's libraries and the pure Python packages that torch imports, and runs check_wheels.py in it.
source "$(dirname "$0")/common.sh"
graalpy_launcher
environment=$work/check
site=$environment/lib/python3.12/site-packages
fetch_cpython_wheel torch==2.6.0 torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl 2bb8987f3bb1ef2675897034402373ddfc8f5ef0e156e2d8cfc47cacafdda4a9
rm -rf "$environment"
"$graalpy" -m venv --without-pip "$environment"
rm "$environment/bin/graalpy"
sed "s|--python.Executable=.* |--python.Executable=\"$environment/bin/graalpy\" |" "$graalpy" > "$environment/bin/graalpy"
chmod +x "$environment/bin/graalpy"
for wheel in "$wheelhouse"/*.whl; do python3 -m zipfile -e "$wheel" "$site"; done
for library in libtorch_cpu.so libc10.so libshm.so libgomp-a34b3233.so.1; do
  if [ -e "$site/torch/lib/$library" ]; then fail "the torch wheel must not carry $library"; fi
done
python3 - "$downloads"/torch-2.6.0-cp312-*.whl "$site" << 'END'
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in ("libtorch_cpu.so", "libc10.so", "libshm.so", "libgomp-a34b3233.so.1"):
        wheel.extract(f"torch/lib/{name}", sys.argv[2])
END
python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --target "$site" --only-binary :all: --python-version 3.12 --implementation py \
  --abi none --platform any sympy==1.13.1 mpmath==1.3.0 filelock typing_extensions networkx==3.4.2 fsspec
"$environment/bin/graalpy" -X faulthandler "$here/check_wheels.py"
