#!/usr/bin/env bash
# A PowerDNS authoritative server with its REST API, on loopback, for the tests in tests/powerdns.rs.
#
# usage: tests/servers/powerdns.sh start | stop | util WORDS...
#   start  installs Debian's packages where they are missing, starts one server, waits for it and prints its URL
#   stop   ends it and removes its files
#   util   runs the server's own tool, pdnsutil, on its database
# env:   POWERDNS_HTTP (18181), POWERDNS_DNS (15391): ports; POWERDNS_API_KEY: the key
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

http=${POWERDNS_HTTP:-18181} dns=${POWERDNS_DNS:-15391} key=${POWERDNS_API_KEY:-key-for-tests}
state=${TMPDIR:-/tmp}/trueup-powerdns-$http
schema=/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql

stop() {
  end "$state/server.pid"
  rm -rf "$state"
}

install_missing() {
  have pdns_server sqlite3 curl && [ -f "$schema" ] && return
  install_packages pdns-server pdns-backend-sqlite3 sqlite3 curl
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
  launch pdns_server --config-dir="$state" --daemon=no --guardian=no
  local url=http://127.0.0.1:$http/api/v1/servers/localhost
  await PowerDNS curl -fsS -H "X-API-Key: $key" "$url"
  echo "$url"
}

case ${1:-} in
start) start ;;
stop) stop ;;
util)
  shift
  pdnsutil --config-dir="$state" "$@"
  ;;
*) usage ;;
esac
