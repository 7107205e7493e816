#!/usr/bin/env bash
# A browser without a window, for the test in tests/chromium.rs, which drives it by Node.
#
# usage: tests/servers/chromium.sh start | stop
#   start  installs the packages chromium and nodejs where they are missing, and prints the browser's path
#   stop   does nothing: the test ends what it starts
set -euo pipefail

case ${1:-} in
start)
  for needed in chromium node; do
    command -v "$needed" >/dev/null && continue
    apt-get update -qq >&2
    package=${needed/#node/nodejs}
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >&2
  done
  command -v chromium
  ;;
stop) ;;
*)
  echo "usage: $0 start | stop" >&2
  exit 64
  ;;
esac
