#!/bin/bash
# regex 2026.11.19 for GraalPy. About half a minute.
source "$(dirname "$0")/common.sh"
need gcc mvn
graalpy_launcher
build=$work/regex
source=$build/regex-2026.11.19
tree=$build/tree

fetch_sdist regex==2026.11.19 regex-2026.11.19.tar.gz 2826a006b68acfd3ed5074433caafe21d7f9d026eb82cb856724a4a893a70915
fresh "$build"
tar -xzf "$downloads/regex-2026.11.19.tar.gz" -C "$build"
autopatch "$source/src"
say "compiling regex"
mkdir -p "$tree/regex"
gcc -shared -O2 -fPIC -w -fno-strict-aliasing -DNDEBUG -ffile-prefix-map="$build=build" -Wl,-s -I"$graalpy_include" \
  "$source"/src/_regex.c "$source"/src/_regex_unicode.c -o "$tree/regex/_regex$extension_suffix"
cp "$source"/regex/*.py "$tree/regex/"
dist_info "$source" "$tree" LICENSE.txt
pack "$tree"
