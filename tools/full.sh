# Run by ./torch-ane test --full: what needs a CPython, or long.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
python=${TORCH_ANE_CPYTHON:-python3}

if "$python" -c "import torch, transformers, pytest" 2>/dev/null; then
    (cd "$here/python-src" && "$python" -m pytest -q tests)
else
    echo "SKIPPED: python-src/tests on CPython ($python has no torch, transformers and pytest; TORCH_ANE_CPYTHON names another)"
fi

model=${TORCH_ANE_CACHE:-$HOME/.cache/torch-ane}/demo/SmolLM2-135M-Instruct.Q4_1.gguf
if [ -f "$model" ]; then
    sh "$here/tools/kill-builds.sh" "$model" 20
else
    echo "SKIPPED: kill -9 during builds (run ./torch-ane demo once: it fetches the model)"
fi
