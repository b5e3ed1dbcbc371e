# Shared by the scripts of this folder, which source it. Variables a caller may set:
#   TORCH_ANE_WHEELS_WORK  where sources are fetched and built   (default: ~/.cache/torch-ane/build-wheels; 8 GB for torch)
#   TORCH_ANE_WHEELHOUSE   where the finished wheels go          (default: ../wheelhouse)
#   JAVA_HOME              a JDK 25
#   JOBS                   compilers at a time                   (default: the number of processors)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${TORCH_ANE_WHEELS_WORK:-$HOME/.cache/torch-ane/build-wheels}
wheelhouse=${TORCH_ANE_WHEELHOUSE:-$here/../wheelhouse}
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}

graalpy_version=25.0.3
wheel_tag=graalpy312-graalpy250_312_native-linux_x86_64
extension_suffix=.graalpy250-312-native-x86_64-linux.so
export SOURCE_DATE_EPOCH=1764460800 # wheels built twice from the same sources are the same bytes
export LC_ALL=C.UTF-8

mkdir -p "$work/downloads" "$wheelhouse"
work=$(cd "$work" && pwd)
wheelhouse=$(cd "$wheelhouse" && pwd)
downloads=$work/downloads
graalpy=$work/graalpy/bin/graalpy

say() { printf '\n== %s\n' "$*" >&2; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# need COMMAND...: names every command that is missing
need() {
  local command missing=()
  for command; do command -v "$command" > /dev/null || missing+=("$command"); done
  [ ${#missing[@]} = 0 ] || fail "missing on this machine: ${missing[*]}. README.md lists what a build needs."
}

# verify FILE SHA256
verify() {
  local found
  found=$(sha256sum "$1" | cut -d' ' -f1)
  [ "$found" = "$2" ] || fail "$1 has sha256 $found; expected $2. Delete it to fetch it again."
}

# fetch FILE SHA256 PIP_ARGUMENT...: a file of the package index that pip is configured to, into downloads
fetch() {
  local file=$1 sha256=$2
  shift 2
  if [ ! -f "$downloads/$file" ]; then
    say "fetching $file"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$downloads" "$@" >&2
    [ -f "$downloads/$file" ] || fail "pip download $* did not bring $file"
  fi
  verify "$downloads/$file" "$sha256"
}

# fetch_sdist REQUIREMENT FILE SHA256: with a backend that builds nothing in the place of numpy's, maturin's and setuptools'
fetch_sdist() {
  local backends=$work/source-only
  mkdir -p "$backends/setuptools"
  cp "$here/source_only.py" "$backends/mesonpy.py"
  cp "$here/source_only.py" "$backends/maturin.py"
  cp "$here/source_only.py" "$backends/setuptools/build_meta.py"
  touch "$backends/setuptools/__init__.py"
  PYTHONPATH=$backends fetch "$2" "$3" --no-build-isolation --use-pep517 --no-binary "${1%%=*}" "$1"
}

fetch_cpython_wheel() {
  fetch "$2" "$3" --only-binary :all: --implementation cp --python-version 3.12 --abi cp312 \
    --platform manylinux1_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 "$1"
}

# fresh DIR: an empty folder in place of an old one
fresh() {
  rm -rf "$1"
  mkdir -p "$1"
}

# host_python: a CPython environment with the tools that generators need, its path in $host
host_python() {
  host=$work/host
  if ! cmp -s "$here/host-requirements.txt" "$host/installed.txt"; then
    say "host Python"
    python3 -m venv --clear "$host"
    "$host/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$here/host-requirements.txt"
    cp "$here/host-requirements.txt" "$host/installed.txt"
  fi
}

# graalpy_launcher: GraalPy from its Maven artefacts, as the command $graalpy; its unpacked home in $graalpy_home
graalpy_launcher() {
  local java=${JAVA_HOME:?set JAVA_HOME to a JDK 25}/bin/java
  "$java" -version 2>&1 | grep -q 'version "25' || fail "JAVA_HOME=$JAVA_HOME is not a JDK 25"
  if [ ! -d "$work/graalpy/jars" ]; then
    need mvn
    say "GraalPy $graalpy_version"
    fresh "$work/graalpy/fetch"
    sed "s/GRAALPY_VERSION/$graalpy_version/" "$here/graalpy-pom.xml" > "$work/graalpy/fetch/pom.xml"
    mvn -q -B -f "$work/graalpy/fetch/pom.xml" dependency:copy-dependencies -DincludeTypes=jar -DoutputDirectory="$work/graalpy/fetch/jars" >&2
    mv "$work/graalpy/fetch/jars" "$work/graalpy/jars"
  fi
  mkdir -p "$work/graalpy/bin"
  cat > "$graalpy" << END
#!/bin/sh
exec "$java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Xss16m \\
  -Dpolyglot.engine.userResourceCache="$work/graalpy/resources" -cp "$work/graalpy/jars/*" com.oracle.graal.python.shell.GraalPythonMain \\
  --experimental-options --engine.WarnInterpreterOnly=false --python.Executable="$graalpy" "\$@"
END
  chmod +x "$graalpy"
  graalpy_home=$("$graalpy" -c 'import sys; print(sys.prefix)')
  graalpy_include=$graalpy_home/include/python3.12
  [ -f "$graalpy_include/Python.h" ] || fail "no Python.h in $graalpy_include"
}

# autopatch PATH...: GraalPy's own rewriting of direct accesses to fields of Python objects
autopatch() {
  local path
  for path; do python3 "$graalpy_home/lib/graalpy25.0/modules/autopatch_capi.py" "$path" >&2; done
}

# graalpy_patch NAME: the path of a patch that GraalPy carries
graalpy_patch() { echo "$graalpy_home/lib/graalpy25.0/patches/$1"; }

# debian_release SUITE: apt-get with lists of its own for that suite, from the mirror that this machine's apt is configured to, as the array $apt
debian_release() {
  need apt-get dpkg-deb
  local suite=$1 mirror state=$work/apt
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' | awk '$2 == "Debian" && $3 == "main" { print $1; exit }')
  [ -n "$mirror" ] || fail "apt knows no Debian mirror: run apt-get update on a Debian machine first"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  printf 'Types: deb deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
    "$mirror" "$suite" > "$state/$suite.sources"
  apt=(apt-get -qq -o Dir::Etc::sourcelist="$state/$suite.sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$state/lists"
    -o Dir::Cache="$state/cache" -o APT::Sandbox::User=root)
  [ -f "$state/$suite.updated" ] || { "${apt[@]}" update >&2 && touch "$state/$suite.updated"; }
}

# pack TREE: packs a folder laid out like site-packages, dist-info included, into a wheel in the wheelhouse. No path of this machine may have got into it.
pack() {
  local path found
  for path in "$work" "$HOME/"; do
    if found=$(grep -rlaF "$path" "$1"); then fail "the path $path stands in" $found; fi
  done
  python3 "$here/pack_wheel.py" --tag "$wheel_tag" --output "$wheelhouse" "$1"
}

# dist_info SOURCE TREE LICENCE...: metadata and licences of an unpacked source archive, as TREE/NAME-VERSION.dist-info
dist_info() {
  local source=$1 tree=$2 info
  shift 2
  info=$tree/$(sed -n 's/^Name: //p' "$source/PKG-INFO" | tr 'A-Z-' 'a-z_')-$(sed -n 's/^Version: //p' "$source/PKG-INFO").dist-info
  mkdir -p "$info/licenses"
  cp "$source/PKG-INFO" "$info/METADATA"
  (cd "$source" && cp "$@" "$info/licenses/")
}

# pyo3_wheel NAME VERSION SHA256 LIBRARY MODULE LICENCE: a package of maturin's layout (bindings/python, py_src), built by cargo alone
pyo3_wheel() {
  local name=$1 version=$2 sha256=$3 library=$4 module=$5 licence=$6
  local build=$work/$name source=$work/$name/$name-$version tree=$work/$name/tree
  need cargo rustc gcc g++ mvn
  graalpy_launcher
  fetch_sdist "$name==$version" "$name-$version.tar.gz" "$sha256"
  mkdir -p "$build"
  [ -d "$source" ] || tar -xzf "$downloads/$name-$version.tar.gz" -C "$build"
  say "compiling $name"
  local cargo_home=${CARGO_HOME:-$HOME/.cargo} map
  map="-ffile-prefix-map=$cargo_home=cargo -ffile-prefix-map=$build=build"
  (
    cd "$source/bindings/python"
    export PYO3_PYTHON=$graalpy CARGO_TARGET_DIR=$build/target CFLAGS="-O2 $map" CXXFLAGS="-O2 $map"
    export RUSTFLAGS="--remap-path-prefix=$cargo_home=cargo --remap-path-prefix=$build=build -Cstrip=symbols"
    cargo build --release --locked --jobs "$jobs"
  )
  fresh "$tree"
  cp -r "$source/py_src/$name" "$tree/"
  cp "$build/target/release/$library" "$tree/$name/$module$extension_suffix"
  dist_info "$source" "$tree" "$licence"
  pack "$tree"
}
