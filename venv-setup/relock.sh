#!/bin/sh
# Writes src/main/resources/dev/torchane/venv/venv.lock anew: hashes of the packages it names, of the excerpts, and of
# every wheel in wheelhouse/. Run it after a wheel was rebuilt, or after editing a version in the lock file.
set -e
: "${JAVA_HOME:?must name a JDK 25}"
module=$(cd "$(dirname "$0")" && pwd)
cd "$module/.."
mvn -q -pl venv-setup process-classes org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath \
    -Dmdep.outputFile=target/relock.classpath -DincludeScope=runtime
exec "$JAVA_HOME/bin/java" -cp "$module/target/classes:$(cat "$module/target/relock.classpath")" \
    dev.torchane.venv.Relock "$module"
