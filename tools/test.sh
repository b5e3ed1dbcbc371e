# Sourced by ./torch-ane test: Maven's tests, then what needs other tools, each said when skipped.
full=false
for argument in "$@"; do
    case "$argument" in
    --full) full=true ;;
    *)
        say "unknown argument '$argument'; ./torch-ane test takes --full only"
        exit 2
        ;;
    esac
done

if $full; then
    maven -B --no-transfer-progress verify -Dtorchane.excludedGroups=
else
    maven -B --no-transfer-progress verify
fi

if command -v ruff >/dev/null 2>&1; then
    ruff check "$here/python-src" && ruff format --check "$here/python-src"
    say "python-src: ruff finds nothing to say"
else
    say "SKIPPED: ruff on python-src (no ruff on PATH)"
fi

if $full; then
    sh "$here/tools/full.sh"
else
    say "SKIPPED: the tests tagged 'full' (50 exports, kill -9 during builds, CPython's torch): ./torch-ane test --full runs them"
fi
