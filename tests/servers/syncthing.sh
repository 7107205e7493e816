#!/usr/bin/env bash
# A Syncthing that knows nobody, with its REST API, on loopback, for the tests in tests/syncthing.rs.
#
# usage: tests/servers/syncthing.sh start | stop
#   start  installs Debian's package where it is missing, starts one server, waits for it and prints its URL
#   stop   ends it and removes its files
# env:   SYNCTHING_GUI (18391), SYNCTHING_SYNC (22091): ports
set -euo pipefail

gui=${SYNCTHING_GUI:-18391} sync=${SYNCTHING_SYNC:-22091}
state=${TMPDIR:-/tmp}/trueup-syncthing-$gui
key=trueup-test-key # the tests know it

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
  command -v syncthing >/dev/null && command -v curl >/dev/null && return
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends syncthing curl >/dev/null
}

# Finds nobody, is found by nobody, and tells nobody anything.
configure() {
  cat >"$state/config.xml" <<XML
<configuration version="35">
  <gui enabled="true" tls="false">
    <address>127.0.0.1:$gui</address>
    <apikey>$key</apikey>
  </gui>
  <options>
    <listenAddress>tcp://127.0.0.1:$sync</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <announceLANAddresses>false</announceLANAddresses>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <stunKeepaliveStartS>0</stunKeepaliveStartS>
    <startBrowser>false</startBrowser>
    <urAccepted>-1</urAccepted>
    <crashReportingEnabled>false</crashReportingEnabled>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
  </options>
</configuration>
XML
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  configure
  HOME=$state STNORESTART=1 STNOUPGRADE=1 \
    syncthing serve --no-browser --no-restart --home="$state" >"$state/log" 2>&1 &
  echo $! >"$state/pid"
  for _ in $(seq 150); do
    if curl -fsS -H "X-API-Key: $key" "http://127.0.0.1:$gui/rest/system/ping" >/dev/null 2>&1; then
      echo "http://127.0.0.1:$gui/rest"
      return
    fi
    kill -0 "$(cat "$state/pid")" 2>/dev/null || break
    sleep 0.2
  done
  echo "Syncthing did not start:" >&2
  tail -n 40 "$state/log" >&2
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
