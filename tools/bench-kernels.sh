# Sourced by ./torch-ane bench --kernels [PATTERN]: builds the kernels' benchmarks and runs those whose name matches.
log=$here/benchmarks/target/build.log
mkdir -p "$here/benchmarks/target"
if ! maven -B -q -pl benchmarks -am -Dmaven.test.skip=true -Dspotless.check.skip=true package \
    dependency:build-classpath -DincludeScope=runtime -Dmdep.outputFile=target/classpath >"$log" 2>&1; then
    cat "$log" >&2
    say "torch-ane: the build of the benchmarks failed; its output is above and in $log"
    exit 1
fi
# shellcheck disable=SC2086
exec "$jdk/bin/java" $flags -cp "$here/benchmarks/target/classes:$(cat "$here/benchmarks/target/classpath")" \
    dev.torchane.cli.bench.KernelBench "$here/docs/bench" "$@"
