#!/usr/bin/env bash
# An etcd of one member, with its JSON gateway, on loopback, for the tests in tests/etcd.rs.
#
# usage: tests/servers/etcd.sh start | stop
#   start  installs Debian's package where it is missing, starts one server, waits for it and prints its URL
#   stop   ends it and removes its files
# env:   ETCD_CLIENT (16591), ETCD_PEER (16592): ports
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

client=${ETCD_CLIENT:-16591} peer=${ETCD_PEER:-16592}
state=${TMPDIR:-/tmp}/trueup-etcd-$client

stop() {
  end "$state/server.pid"
  rm -rf "$state"
}

install_missing() {
  have etcd curl || install_packages etcd-server curl
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  local url=http://127.0.0.1:$client members=http://127.0.0.1:$peer
  launch etcd --data-dir "$state/data" --listen-client-urls "$url" --advertise-client-urls "$url" \
    --listen-peer-urls "$members" --initial-advertise-peer-urls "$members" --initial-cluster "default=$members"
  await etcd healthy "$url"
  echo "$url"
}

healthy() { curl -fsS "$1/health" | grep -q true; }

case ${1:-} in
start) start ;;
stop) stop ;;
*) usage ;;
esac
