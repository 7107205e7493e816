#!/usr/bin/env bash
# json-server 0.17, a REST API over one JSON file, on loopback, for the tests in tests/json_server.rs.
#
# usage: tests/servers/json-server.sh start | stop
#   start  installs it from npm where it is missing, starts one with empty collections, waits and prints its URL
#   stop   ends it and removes its files
# env:   JSON_SERVER_HTTP (18182): port; JSON_SERVER_MODULES: a folder to install to, which stays
set -euo pipefail

http=${JSON_SERVER_HTTP:-18182}
state=${TMPDIR:-/tmp}/trueup-json-server-$http
modules=${JSON_SERVER_MODULES:-${TMPDIR:-/tmp}/trueup-json-server-npm}
server=$modules/node_modules/.bin/json-server
# The last release whose ids are integers and whose listings have a total.
release=json-server@0.17.4

stop() {
  local pid
  if pid=$(cat "$state/server.pid" 2>/dev/null) && kill "$pid" 2>/dev/null; then
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  fi
  rm -rf "$state"
}

install_missing() {
  if ! command -v npm >/dev/null || ! command -v curl >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm curl >/dev/null
  fi
  [ -x "$server" ] && return
  mkdir -p "$modules"
  npm install --prefix "$modules" --no-audit --no-fund --silent "$release" >/dev/null
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  echo '{"posts": [], "comments": [], "tags": [], "profile": {"name": "", "links": {}}}' >"$state/db.json"
  "$server" --host 127.0.0.1 --port "$http" --quiet "$state/db.json" >"$state/server.log" 2>&1 &
  echo $! >"$state/server.pid"
  for _ in $(seq 300); do
    if curl -fsS "http://127.0.0.1:$http/db" >/dev/null 2>&1; then
      echo "http://127.0.0.1:$http"
      return
    fi
    kill -0 "$(cat "$state/server.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "json-server did not start:" >&2
  tail -n 40 "$state/server.log" >&2
  exit 1
}

case ${1:-} in
start) start ;;
stop) stop ;;
*)
  sed -n '2,7p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 64
  ;;
esac
