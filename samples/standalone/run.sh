#!/bin/sh
# Installs the library into the local Maven repository and runs this project against it: run.sh MODEL QUESTION
# Needs JAVA_HOME to name a JDK 25 or newer. The first run makes the Python environment in the user's cache.
set -eu
cd "$(dirname "$0")"
mvn -B -q -f ../../pom.xml -pl polyglot-host -am -DskipTests -Dspotless.check.skip=true install
exec mvn -B -q compile exec:exec -Dmodel="$1" -Dquestion="$2"
