#!/usr/bin/env bash
# An etcd of one member, with its JSON gateway, on loopback, for the tests in tests/etcd.rs.
#
# usage: tests/servers/etcd.sh start | stop
#   start  installs Debian's package where it is missing, starts one server, waits for it and prints its URL
#   stop   ends it and removes its files
# env:   ETCD_CLIENT (16591), ETCD_PEER (16592): ports
set -euo pipefail

client=${ETCD_CLIENT:-16591} peer=${ETCD_PEER:-16592}
state=${TMPDIR:-/tmp}/trueup-etcd-$client

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
  command -v etcd >/dev/null && command -v curl >/dev/null && return
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends etcd-server curl >/dev/null
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  local url=http://127.0.0.1:$client members=http://127.0.0.1:$peer
  etcd --data-dir "$state/data" --listen-client-urls "$url" --advertise-client-urls "$url" \
    --listen-peer-urls "$members" --initial-advertise-peer-urls "$members" --initial-cluster "default=$members" \
    >"$state/log" 2>&1 &
  echo $! >"$state/pid"
  for _ in $(seq 150); do
    if curl -fsS "$url/health" 2>/dev/null | grep -q true; then
      echo "$url"
      return
    fi
    kill -0 "$(cat "$state/pid")" 2>/dev/null || break
    sleep 0.2
  done
  echo "etcd did not start:" >&2
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
