#!/usr/bin/env bash
# A browser without a window, for the test in tests/chromium.rs, which drives it by Node.
#
# usage: tests/servers/chromium.sh start | stop
#   start  installs the packages chromium and nodejs where they are missing, and prints the browser's path
#   stop   does nothing: the test ends what it starts
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

case ${1:-} in
start)
  have chromium node || install_packages chromium nodejs
  command -v chromium
  ;;
stop) ;;
*) usage ;;
esac
