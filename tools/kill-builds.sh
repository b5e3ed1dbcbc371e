#!/bin/sh
# kill-builds.sh MODEL [TIMES]: kills builds of MODEL at random moments and checks that nothing half-written is ever found.
# Each round starts a build in a fresh cache (the environment is shared), kills it with SIGKILL after a random time, every other
# one while its files are written, and looks at what the cache then holds: a finished entry must load and answer, anything else
# must be invisible to the next run. The last round is not killed. Prints one line for each round and
# "kill-builds: N passed, N failed".
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
model=$1
times=${2:-20}
shared=${TORCH_ANE_CACHE:-$HOME/.cache/torch-ane}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# The environment and downloads come from the user's cache; only models are fresh.
for part in "$shared"/*; do
    [ "$(basename "$part")" = models ] || ln -s "$part" "$work/$(basename "$part")"
done
export TORCH_ANE_CACHE=$work

began=$(date +%s)
"$here/torch-ane" run "$model" "Say yes." --max-tokens 4 >/dev/null 2>"$work/reference.log" ||
    { cat "$work/reference.log" >&2; exit 1; }
whole=$(($(date +%s) - began))
rm -rf "$work/models"

round=1
while [ "$round" -le "$times" ]; do
    # odd rounds at any time; even rounds while files are written, or just behind that
    moment=$(awk -v seed="$round$$" -v whole="$whole" -v round="$round" 'BEGIN {
        srand(seed); printf "%.2f", rand() * (round % 2 ? whole + 1 : 8) }')
    setsid "$here/torch-ane" run "$model" "Say yes." --max-tokens 4 >/dev/null 2>&1 &
    victim=$!
    what="killed $moment s after its start"
    if [ $((round % 2)) -eq 0 ]; then
        what="killed $moment s after its first file"
        until [ -n "$(find "$work/models" -path '*.building/*' -type f 2>/dev/null | head -n 1)" ]; do
            kill -0 "$victim" 2>/dev/null || { what="ended by itself"; break; }
            sleep 0.1
        done
    fi
    sleep "$moment"
    kill -9 "-$victim" 2>/dev/null || true
    wait "$victim" 2>/dev/null || true
    entries=$(find "$work/models" -mindepth 1 -maxdepth 1 -type d ! -name '.*' 2>/dev/null || true)
    verdict="no entry"
    if [ -n "$entries" ]; then
        if "$here/torch-ane" run "$entries" "Say yes." --max-tokens 4 >/dev/null 2>"$work/check.log"; then
            verdict="a whole entry"
        else
            verdict="A DAMAGED ENTRY"
            cat "$work/check.log"
        fi
        rm -rf "$work/models"
    fi
    case "$verdict" in
    A*) failed=$((failed + 1)) ;;
    *) passed=$((passed + 1)) ;;
    esac
    echo "round $round: $what: $verdict"
    round=$((round + 1))
done

if "$here/torch-ane" run "$model" "Say yes." --max-tokens 4 >/dev/null 2>"$work/last.log"; then
    passed=$((passed + 1))
    echo "after the last kill a run builds and answers"
else
    failed=$((failed + 1))
    cat "$work/last.log"
fi
echo "kill-builds: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
