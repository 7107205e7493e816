#!/usr/bin/env bash
# A RabbitMQ server with its management API, on loopback, for the tests in tests/rabbitmq.rs.
#
# usage: tests/servers/rabbitmq.sh start | stop | ctl WORDS...
#   start  installs Debian's package where it is missing, starts one server, waits for it and prints its URL
#   stop   ends it and removes its files
#   ctl    runs the server's own tool, rabbitmqctl, on it
# env:   RABBITMQ_HTTP (15691), RABBITMQ_AMQP (25691), RABBITMQ_DIST (25692), RABBITMQ_EPMD (24391): ports
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

http=${RABBITMQ_HTTP:-15691} amqp=${RABBITMQ_AMQP:-25691} dist=${RABBITMQ_DIST:-25692} epmd=${RABBITMQ_EPMD:-24391}
state=${TMPDIR:-/tmp}/trueup-rabbitmq-$http
server=/usr/lib/rabbitmq/bin/rabbitmq-server

stop() {
  end "$state/server.pid"
  end "$state/epmd.pid"
  rm -rf "$state"
}

install_missing() {
  [ -x "$server" ] && have curl || install_packages rabbitmq-server curl
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  echo '[rabbitmq_management].' >"$state/plugins"
  cat >"$state/rabbitmq.conf" <<CONF
listeners.tcp.default = 127.0.0.1:$amqp
management.tcp.ip = 127.0.0.1
management.tcp.port = $http
loopback_users.guest = true
log.console = true
log.console.level = warning
CONF
  # A name server and a node of its own, so that another RabbitMQ on the machine is left alone.
  export HOME=$state ERL_EPMD_PORT=$epmd ERL_EPMD_ADDRESS=127.0.0.1
  epmd -address 127.0.0.1 -port "$epmd" >"$state/epmd.log" 2>&1 &
  echo $! >"$state/epmd.pid"
  export RABBITMQ_NODENAME=trueup-$http@localhost RABBITMQ_DIST_PORT=$dist
  export RABBITMQ_MNESIA_BASE=$state/data RABBITMQ_LOG_BASE=$state/logs
  export RABBITMQ_CONFIG_FILE=$state/rabbitmq RABBITMQ_ENABLED_PLUGINS_FILE=$state/plugins
  export RABBITMQ_CONF_ENV_FILE=/dev/null
  export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
  launch "$server"
  local url=http://127.0.0.1:$http/api
  await RabbitMQ curl -fsS -u guest:guest "$url/overview"
  echo "$url"
}

ctl() {
  HOME=$state ERL_EPMD_PORT=$epmd RABBITMQ_CONF_ENV_FILE=/dev/null \
    /usr/lib/rabbitmq/bin/rabbitmqctl --quiet --node "trueup-$http@localhost" "$@"
}

case ${1:-} in
start) start ;;
stop) stop ;;
ctl)
  shift
  ctl "$@"
  ;;
*) usage ;;
esac
