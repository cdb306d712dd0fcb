#!/bin/sh
# Runs a command of Stoa on the Java runtime beside it. STOA_JAVA_OPTIONS adds options of Java,
# -Xmx4g for example.
path=$0
while [ -L "$path" ]; do
  link=$(readlink "$path")
  case $link in /*) path=$link ;; *) path=$(dirname "$path")/$link ;; esac
done
root=$(cd -P "$(dirname "$path")/.." && pwd)
# shellcheck disable=SC2086 # options are words
exec "$root/runtime/bin/java" @OPTIONS@ ${STOA_JAVA_OPTIONS:-} -cp "$root/lib/*" stoa.cli.Main "$@"
