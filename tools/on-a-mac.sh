#!/bin/sh
# Runs the tests on a Mac's Neural Engine, step by step; docs/on-a-mac.md says what each is for. Nobody has run it on a Mac yet.
#   tools/on-a-mac.sh check           what this machine has
#   tools/on-a-mac.sh kernels         the hand-written kernels and MIL files
#   tools/on-a-mac.sh model BUNDLE    one bundle: rules, placement, an answer
#   tools/on-a-mac.sh coreml BUNDLE   the bundle and the MIL files as Core ML packages, compiled by Xcode
#   tools/on-a-mac.sh tests           the acceptance tests on Core AI
#   tools/on-a-mac.sh report          everything so far, as one archive
# ENGINE (default coreai) and UNITS (default ane) choose what runs; RESULTS is where logs go.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
engine=${ENGINE:-coreai}
units=${UNITS:-ane}
results=${RESULTS:-$here/target/on-a-mac}
mkdir -p "$results"

say() { printf '== %s\n' "$*"; }

# logged NAME COMMAND...: the command's output, on the screen and in a file, with how it ended; a failure does not stop the rest
logged() {
    step=$1
    shift
    say "$*" | tee "$results/$step.log"
    { "$@" 2>&1 && echo "== ended well" || echo "== ended with $?"; } | tee -a "$results/$step.log"
}

machine() {
    uname -a
    sw_vers 2>/dev/null || echo "no sw_vers: this is no macOS"
    sysctl -n machdep.cpu.brand_string hw.model hw.memsize 2>/dev/null || true
    "${JAVA_HOME:?names a JDK 25}/bin/java" -version 2>&1
    mvn -version 2>&1 | head -1
    for python in python3.11 python3.12 python3.13 python3.14; do
        if command -v "$python" >/dev/null 2>&1; then "$python" --version; fi
    done
    git -C "$here" rev-parse HEAD
}

flags="-Dtorchane.engine=$engine -Dtorchane.units=$units"

case "${1:-}" in
check)
    logged machine machine
    ;;
kernels)
    for text in "$here"/samples/mil/*.mil; do
        name=$(basename "$text" .mil)
        logged "rules-$name" "$here/torch-ane" mil check "$text" --profile coreai-ane
        logged "rounded-$name" "$here/torch-ane" mil run "$text" --engine jvm --declared --seed 1 --save "$results/$name-rounded.npz"
        logged "$engine-$name" "$here/torch-ane" mil run "$text" --engine "$engine" --units "$units" --seed 1 --repeat 20 \
            --save "$results/$name-$engine.npz"
    done
    ;;
model)
    bundle=${2:?"usage: tools/on-a-mac.sh model BUNDLE"}
    logged rules "$here/torch-ane" inspect "$bundle" --ane
    logged placement "$here/torch-ane" inspect "$bundle"
    TORCH_ANE_JAVA_OPTS=$flags logged answer "$here/torch-ane" run "$bundle" "What is the capital of France?" --max-tokens 32
    ;;
coreml)
    bundle=${2:?"usage: tools/on-a-mac.sh coreml BUNDLE"}
    packages=$results/coreml
    rm -rf "$packages"
    mkdir -p "$packages"
    logged coreml-export "$here/torch-ane" export "$bundle" -o "$packages/model.mlpackage"
    logged coreml-export-half "$here/torch-ane" export "$bundle" -o "$packages/model-half.mlpackage" --half-norms
    for text in "$here"/samples/mil/*.mil; do
        name=$(basename "$text" .mil)
        logged "coreml-export-$name" "$here/torch-ane" mil compile "$text" -o "$packages/$name.mlpackage"
    done
    for package in "$packages"/*.mlpackage; do
        logged "coreml-compile-$(basename "$package" .mlpackage)" xcrun coremlcompiler compile "$package" "$packages"
    done
    ;;
tests)
    # shellcheck disable=SC2086
    logged tests mvn -B --no-transfer-progress -f "$here/pom.xml" -pl src/test -am -DfailIfNoTests=false \
        -Dtest='RealModelTest,CompiledModuleTest,PretrainedModulesTest,SmallPipelineTest' -Dsurefire.failIfNoSpecifiedTests=false \
        $flags verify
    mkdir -p "$results/surefire"
    cp "$here"/src/test/target/surefire-reports/*.txt "$results/surefire/" 2>/dev/null || true
    ;;
report)
    archive=$here/target/on-a-mac-$(uname -m)-$(date +%Y%m%d).tar.gz
    tar -czf "$archive" -C "$(dirname "$results")" "$(basename "$results")"
    say "file $archive, with a sentence on what you saw"
    ;;
*)
    sed -n '2,10p' "$0"
    exit 2
    ;;
esac
