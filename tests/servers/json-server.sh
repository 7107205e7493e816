#!/usr/bin/env bash
# json-server 0.17, a REST API over one JSON file, on loopback, for the tests in tests/json_server.rs.
#
# usage: tests/servers/json-server.sh start | stop
#   start  installs it from npm where it is missing, starts one with empty collections, waits and prints its URL
#   stop   ends it and removes its files
# env:   JSON_SERVER_HTTP (18182): port; JSON_SERVER_MODULES: a folder to install to, which stays
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

http=${JSON_SERVER_HTTP:-18182}
state=${TMPDIR:-/tmp}/trueup-json-server-$http
modules=${JSON_SERVER_MODULES:-${TMPDIR:-/tmp}/trueup-json-server-npm}
server=$modules/node_modules/.bin/json-server
# The last release whose ids are integers and whose listings have a total.
release=json-server@0.17.4

stop() {
  end "$state/server.pid"
  rm -rf "$state"
}

install_missing() {
  have npm curl || install_packages nodejs npm curl
  [ -x "$server" ] && return
  mkdir -p "$modules"
  npm install --prefix "$modules" --no-audit --no-fund --silent "$release" >/dev/null
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  echo '{"posts": [], "comments": [], "tags": [], "profile": {"name": "", "links": {}}}' >"$state/db.json"
  launch "$server" --host 127.0.0.1 --port "$http" --quiet "$state/db.json"
  local url=http://127.0.0.1:$http
  await json-server curl -fsS "$url/db"
  echo "$url"
}

case ${1:-} in
start) start ;;
stop) stop ;;
*) usage ;;
esac
