#!/usr/bin/env bash
# A Syncthing that knows nobody, with its REST API, on loopback, for the tests in tests/syncthing.rs.
#
# usage: tests/servers/syncthing.sh start | stop
#   start  installs Debian's package where it is missing, starts one server, waits for it and prints its URL
#   stop   ends it and removes its files
# env:   SYNCTHING_GUI (18391), SYNCTHING_SYNC (22091): ports
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

gui=${SYNCTHING_GUI:-18391} sync=${SYNCTHING_SYNC:-22091}
state=${TMPDIR:-/tmp}/trueup-syncthing-$gui
key=trueup-test-key # the tests know it

stop() {
  end "$state/server.pid"
  rm -rf "$state"
}

install_missing() {
  have syncthing curl || install_packages syncthing curl
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
  HOME=$state STNORESTART=1 STNOUPGRADE=1 launch syncthing serve --no-browser --no-restart --home="$state"
  local url=http://127.0.0.1:$gui/rest
  await Syncthing curl -fsS -H "X-API-Key: $key" "$url/system/ping"
  echo "$url"
}

case ${1:-} in
start) start ;;
stop) stop ;;
*) usage ;;
esac
