# What the scripts of the servers share; each of them reads this file. `$state` is the folder of what runs: its
# server's id is in `server.pid`, what that says in `server.log`.

# Installs Debian's packages $@, quietly.
install_packages() {
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Whether each of the programs $@ is there.
have() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || return 1
  done
}

# Ends the process whose id the file $1 holds, and waits until it is gone.
end() {
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
}

# Runs $@ in the background as the server.
launch() {
  "$@" >"$state/server.log" 2>&1 &
  echo $! >"$state/server.pid"
}

# Waits, for a minute and while the server lives, until $2... succeeds; else says what $1 said and gives up.
await() {
  local name=$1
  shift
  for _ in $(seq 300); do
    "$@" >/dev/null 2>&1 && return
    kill -0 "$(cat "$state/server.pid")" 2>/dev/null || break
    sleep 0.2
  done
  echo "$name did not start:" >&2
  tail -n 40 "$state"/*.log >&2
  exit 1
}

# Says what the comment at the head of the script says, as an answer to wrong words.
usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 64
}
