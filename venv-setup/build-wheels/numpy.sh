#!/bin/bash
# numpy 2.2.6 for GraalPy, without BLAS. About seven minutes.
# Cross-built: numpy's own meson runs under CPython, and asks GraalPy only what kind of Python it builds for.
source "$(dirname "$0")/common.sh"
need gcc g++ ninja patch mvn
host_python
graalpy_launcher
build=$work/numpy
source=$build/numpy-2.2.6
tree=$build/tree
python=$build/python

fetch_sdist numpy==2.2.6 numpy-2.2.6.tar.gz e29554e2bef54a90aa5cc07da6ce955accb83f21ab5de01a62c8478897b264fd

prepare() {
  fresh "$build"
  tar -xzf "$downloads/numpy-2.2.6.tar.gz" -C "$build"
  autopatch "$source/numpy"
  patch -p1 -d "$source" < "$(graalpy_patch numpy-2.0.0.patch)" >&2
  cat > "$python" << END
#!/bin/sh
case "\$*" in
  *python_info.py) exec "$graalpy" "\$@" ;;
  *) exec "$host/bin/python" "\$@" ;;
esac
END
  chmod +x "$python"
  # The keys of a native file: the compilers' flags keep this machine's paths out of the libraries.
  cat > "$build/native.ini" << END
[binaries]
python = '$python'
cython = '$host/bin/cython'
[built-in options]
c_args = ['-ffile-prefix-map=$build=build', '-ffile-prefix-map=$graalpy_home=graalpy']
cpp_args = ['-ffile-prefix-map=$build=build', '-ffile-prefix-map=$graalpy_home=graalpy']
END
  say "configuring numpy"
  (
    cd "$source"
    "$host/bin/python" vendored-meson/meson/meson.py setup "$build/objects" --native-file "$build/native.ini" --prefix /numpy \
      -Dpython.platlibdir=/numpy/site-packages -Dpython.purelibdir=/numpy/site-packages -Dbuildtype=release -Dallow-noblas=true -Dblas=none -Dlapack=none \
      -Dcpu-baseline=min -Dcpu-dispatch=none >&2
  )
  touch "$build/prepared"
}

[ -f "$build/prepared" ] || prepare
say "compiling numpy"
ninja -C "$build/objects" -j "$jobs"
fresh "$build/install"
(cd "$source" && DESTDIR=$build/install "$host/bin/python" vendored-meson/meson/meson.py install -C "$build/objects" --no-rebuild --strip \
  --tags runtime,python-runtime,devel > /dev/null)
fresh "$tree"
mv "$build/install/numpy/site-packages/numpy" "$tree/"
find "$tree" -name '*.a' -delete
find "$tree" -name __pycache__ -prune -exec rm -r {} + # CPython's
sed -i "s|$graalpy_home|graalpy|g; s|$build|build|g; s|$work|work|g" "$tree/numpy/__config__.py"
dist_info "$source" "$tree" LICENSE.txt LICENSES_bundled.txt
pack "$tree"
