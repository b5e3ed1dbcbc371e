#!/bin/bash
# The wheels of the environment for GraalPy on macOS, arm64, into a folder. Nobody has run it on a Mac yet: the scripts beside this
# one are for Linux, and what is different is in docs/on-a-mac.md. Wants graalpy 25.0.x on PATH, Xcode's command line tools,
# cmake and ninja for torch, cargo for tokenizers and safetensors.
#   macos.sh FOLDER [torch]
set -euo pipefail
folder=${1:?"usage: macos.sh FOLDER [torch]"}
[ "$(uname -s)" = Darwin ] || { echo "this is no macOS: use all.sh" >&2; exit 1; }
command -v graalpy > /dev/null || { echo "graalpy 25.0.x is not on PATH" >&2; exit 1; }
graalpy --version | grep -q '(GraalVM.* 25\.0\|GraalPy.*25\.0' || graalpy --version >&2
mkdir -p "$folder"
# GraalPy's own pip applies its patches to the sources that it knows.
for requirement in numpy==2.2.6 regex==2026.11.19 safetensors==0.8.0 tokenizers==0.23.3 pyyaml==6.0.4; do
    echo "== $requirement" >&2
    graalpy -m pip wheel --no-deps --no-binary :all: --wheel-dir "$folder" "$requirement"
done
if [ "${2:-}" = torch ]; then
    echo "== torch 2.6.0: an hour or more" >&2
    USE_CUDA=0 USE_DISTRIBUTED=0 USE_MPS=0 BUILD_TEST=0 \
        graalpy -m pip wheel --no-deps --wheel-dir "$folder" "torch @ git+https://github.com/pytorch/pytorch@v2.6.0"
fi
ls -l "$folder"
