#!/usr/bin/env bash
# A PowerDNS authoritative server with its REST API, on loopback, for the tests in tests/powerdns.rs.
#
# usage: tests/servers/powerdns.sh start | stop | util WORDS...
#   start  installs Debian's packages where they are missing, starts one server, waits for it and prints its URL
#   stop   ends it and removes its files
#   util   runs the server's own tool, pdnsutil, on its database
# env:   POWERDNS_HTTP (18181), POWERDNS_DNS (15391): ports; POWERDNS_API_KEY: the key
set -euo pipefail

http=${POWERDNS_HTTP:-18181} dns=${POWERDNS_DNS:-15391} key=${POWERDNS_API_KEY:-key-for-tests}
state=${TMPDIR:-/tmp}/trueup-powerdns-$http
schema=/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql

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
  command -v pdns_server >/dev/null && command -v sqlite3 >/dev/null && command -v curl >/dev/null &&
    [ -f "$schema" ] && return
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    pdns-server pdns-backend-sqlite3 sqlite3 curl >/dev/null
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  sqlite3 "$state/zones.db" <"$schema"
  # A file of its own in a folder of its own, so that another PowerDNS on the machine is left alone.
  cat >"$state/pdns.conf" <<CONF
launch=gsqlite3
gsqlite3-database=$state/zones.db
gsqlite3-dnssec=yes
local-address=127.0.0.1
local-port=$dns
socket-dir=$state
webserver=yes
webserver-address=127.0.0.1
webserver-port=$http
webserver-allow-from=127.0.0.0/8
api=yes
api-key=$key
security-poll-suffix=
CONF
  pdns_server --config-dir="$state" --daemon=no --guardian=no >"$state/server.log" 2>&1 &
  echo $! >"$state/server.pid"
  local url=http://127.0.0.1:$http/api/v1/servers/localhost
  for _ in $(seq 300); do
    if curl -fsS -H "X-API-Key: $key" "$url" >/dev/null 2>&1; then
      echo "$url"
      return
    fi
    kill -0 "$(cat "$state/server.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "PowerDNS did not start:" >&2
  tail -n 40 "$state/server.log" >&2
  exit 1
}

case ${1:-} in
start) start ;;
stop) stop ;;
util)
  shift
  pdnsutil --config-dir="$state" "$@"
  ;;
*)
  sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 64
  ;;
esac
