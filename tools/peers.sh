#!/bin/sh
# Prepares what ./torch-ane bench measures this library against: a Python environment with llama.cpp (built for this machine),
# transformers on torch, ONNX Runtime's generate loop and Jlama, and their forms of the demo's model. Some 6 GB and, for the build of
# llama.cpp, 10 minutes of two cores. Packages come from the index that pip is configured to. What does not install is
# named here and skipped by the bench. Needs python3 with venv, a C++ compiler, cmake.
#
#   tools/peers.sh            in the cache folder, peers/
#   PEERS_JOBS=1 tools/peers.sh    jobs of the C++ build; default 2
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
cache=${TORCH_ANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/torch-ane}
[ "$(uname)" != Darwin ] || cache=${TORCH_ANE_CACHE:-$HOME/Library/Caches/torch-ane}
peers=$cache/peers
python=$peers/venv/bin/python
model=$cache/demo/SmolLM2-135M-Instruct.Q4_1.gguf

say() { printf '%s\n' "$*" >&2; }

# -DGGML_NATIVE=ON has produced illegal instructions on virtual machines: the flags are read from the processor instead.
ggml_flags() {
    printf '%s' "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_CURL=OFF"
    [ -r /proc/cpuinfo ] || return 0
    has=$(grep -m 1 '^flags' /proc/cpuinfo)
    for pair in sse4_2:SSE42 avx:AVX avx2:AVX2 bmi2:BMI2 fma:FMA f16c:F16C avx_vnni:AVX_VNNI avx512f:AVX512 \
        avx512vbmi:AVX512_VBMI avx512_vnni:AVX512_VNNI avx512_bf16:AVX512_BF16 amx_tile:AMX_TILE amx_int8:AMX_INT8 amx_bf16:AMX_BF16; do
        case " $has " in *" ${pair%%:*} "*) printf ' -DGGML_%s=ON' "${pair##*:}" ;; esac
    done
}

install() {
    name=$1
    shift
    if "$python" -m pip install --quiet "$@"; then
        say "$name: installed"
    else
        say "$name: NOT installed"
    fi
}

[ -f "$model" ] || {
    say "no model at $model: run ./torch-ane demo once"
    exit 1
}
mkdir -p "$peers/jlama"
[ -x "$python" ] || python3 -m venv "$peers/venv"
"$python" -c 'import llama_cpp' 2>/dev/null ||
    CMAKE_ARGS=$(ggml_flags) CMAKE_BUILD_PARALLEL_LEVEL=${PEERS_JOBS:-2} \
        install llama.cpp --no-binary llama-cpp-python llama-cpp-python==0.3.36
install transformers --only-binary :all: torch==2.13.0 transformers==5.24.0 gguf accelerate sentencepiece protobuf
install onnxruntime-genai --only-binary :all: onnxruntime-genai==0.18.0 onnx onnx-ir
# Jlama: its jars by Maven, and our worker compiled beside them.
jlama() {
    javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac
    mvn -q -B -f "$here/tools/peers/jlama/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies \
        -DoutputDirectory="$peers/jlama/lib" -Dos="$(uname | tr 'DL' 'dl' | sed s/darwin/osx/)-$(uname -m | sed s/arm64/aarch_64/)" &&
        "$javac" --add-modules jdk.incubator.vector -d "$peers/jlama/classes" -cp "$peers/jlama/lib/*" \
            "$here/tools/peers/jlama/JlamaPeer.java"
}
if jlama >"$peers/jlama.log" 2>&1; then
    say "Jlama: installed"
else
    say "Jlama: NOT installed ($peers/jlama.log); it needs mvn, and JAVA_HOME naming a JDK 25"
fi
"$python" "$here/tools/peers/models.py" "$model" "$peers/models" 2>"$peers/models.log" || {
    say "the peers' models could not be made: $peers/models.log"
    exit 1
}
say "ready: ./torch-ane bench"
