#!/bin/bash
# PyYAML 6.0.4, its Python files alone: the index has it only as source and as CPython wheels, and the wrapper of libyaml is optional.
source "$(dirname "$0")/common.sh"
build=$work/pyyaml
source=$build/pyyaml-6.0.4
tree=$build/tree

fetch_sdist pyyaml==6.0.4 pyyaml-6.0.4.tar.gz e24bf71af8a432d7808fabff134d38dfe16d3cbb41f2873bb4b1e42422de0a1a
fresh "$build"
tar -xzf "$downloads/pyyaml-6.0.4.tar.gz" -C "$build"
mkdir -p "$tree"
cp -r "$source/lib/yaml" "$tree/"
dist_info "$source" "$tree" LICENSE
pack "$tree"
