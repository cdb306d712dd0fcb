#!/bin/sh
# Runs a command of Stoa on the Java runtime beside it. STOA_JAVA_OPTIONS adds options of Java,
# -Xmx4g for example.
path=$0
while [ -L "$path" ]; do
  link=$(readlink "$path")
  case $link in /*) path=$link ;; *) path=$(dirname "$path")/$link ;; esac
done
root=$(cd -P "$(dirname "$path")/.." && pwd)
# Callers of the store may use the same machine: a backup leaves them the processors.
before='' more=''
[ "${1:-}" != backup ] || before='nice -n 19' more='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
path="$root/lib/*" main=stoa.cli.Main
case "${1:-} ${2:-}" in
  'sink '* | 'help sink') path="$root/lib/sinks/*:$path" main=stoa.sinks.run.Main ;;
esac
# shellcheck disable=SC2086 # commands and options are words
exec $before "$root/runtime/bin/java" @OPTIONS@ $more ${STOA_JAVA_OPTIONS:-} \
  "-Dstoa.more=\`stoa sink\` writes the changes of objects to a file, to PostgreSQL or to Kafka." \
  -cp "$path" "$main" "$@"
