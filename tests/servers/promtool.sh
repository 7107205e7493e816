#!/usr/bin/env bash
# Prometheus' own checker of metrics and rules, for the tests in tests/promtool.rs.
#
# usage: tests/servers/promtool.sh start | stop
#   start  unpacks the package prometheus into a folder of its own where promtool is missing, and prints its path;
#          nothing is installed, and no server runs
#   stop   does nothing; the folder stays
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

folder=${TMPDIR:-/tmp}/trueup-promtool

case ${1:-} in
start)
  if found=$(command -v promtool); then
    echo "$found"
    exit
  fi
  if [ ! -x "$folder/usr/bin/promtool" ]; then
    mkdir -p "$folder"
    apt-get update -qq >&2
    (cd "$folder" && apt-get download -qq prometheus >&2 && dpkg -x prometheus_*.deb .)
  fi
  echo "$folder/usr/bin/promtool"
  ;;
stop) ;;
*) usage ;;
esac
