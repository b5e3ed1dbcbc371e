#!/bin/sh
# run.sh MODEL QUESTION: runs this project against the library in the local Maven repository.
# Inside the library's clone it installs the library there first; in a copy of this folder, do that once yourself:
#   mvn -f path/to/torch-ane/pom.xml -pl polyglot-host -am -Dmaven.test.skip=true -Dspotless.check.skip=true install
# Needs Maven, and JAVA_HOME to name a JDK 25 or newer. The first run with a MODEL builds it, which takes minutes.
set -eu
if [ $# -ne 2 ]; then
    echo "usage: run.sh MODEL QUESTION" >&2
    exit 2
fi
: "${JAVA_HOME:?must name a JDK 25 or newer}"
case "$1" in
/*) model=$1 ;;
*) if [ -e "$1" ]; then model=$PWD/$1; else model=$1; fi ;;
esac
cd "$(dirname "$0")"
if [ -f ../../polyglot-host/pom.xml ]; then
    mvn -B -q -f ../../pom.xml -pl polyglot-host -am -Dmaven.test.skip=true -Dspotless.check.skip=true install
fi
exec mvn -B -q compile exec:exec -Dmodel="$model" -Dquestion="$2"
