#!/usr/bin/env bash
# The image of deploy/container, built and run by podman, for the tests in tests/container.rs.
#
# usage: tests/servers/container.sh start | stop | run WORDS... | podman WORDS...
#   start   installs Debian's packages where they are missing, builds the image and prints its name; prints why, and
#           an empty line, where this machine lets nobody run a container
#   stop    ends what runs and removes all images
#   run     runs the image on the host's network, its files read-only, without rights: WORDS are flags of `podman run`,
#           the image, and the program's own words
#   podman  podman itself, with the images and containers of these tests
# env:    CONTAINER_STATE: where they are kept
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

state=${CONTAINER_STATE:-${TMPDIR:-/tmp}/trueup-container}
image=trueup:test
root=$(cd "$(dirname "$0")/../.." && pwd)

# Neither a system's images nor its cgroups, logs or events are touched.
own_podman() {
  podman --root "$state/images" --runroot "$state/running" --tmpdir "$state/tmp" --storage-driver vfs --runtime runc \
    --cgroup-manager cgroupfs --events-backend none "$@"
}

run() {
  # A sandbox may not raise these limits.
  own_podman run --rm --network host --read-only --read-only-tmpfs=false --cap-drop ALL \
    --security-opt no-new-privileges --ulimit nofile=1000:1000 --ulimit nproc=1000:1000 "$@"
}

stop() {
  [ -d "$state" ] || return 0
  if have podman; then
    own_podman rm --all --force --time 1 >/dev/null 2>&1 || true
  fi
  rm -rf "$state"
}

install_missing() {
  have podman runc && [ -e /etc/ssl/certs/ca-certificates.crt ] && return
  install_packages podman runc ca-certificates binutils
}

start() {
  install_missing
  stop
  mkdir -p "$state"
  # The profile that compiles fastest, and without the lines of the code: they are two thirds of the file.
  PROFILE=dev CARGO_PROFILE_DEV_DEBUG=0 "$root/deploy/container/build.sh" --context "$state/context" >&2
  own_podman build --isolation chroot --tag "$image" "$state/context" >"$state/log" 2>&1 || {
    cat "$state/log" >&2
    exit 1
  }
  if run "$image" --version >"$state/log" 2>&1; then
    echo "$image"
  else
    echo "skipped: no container runs here: $(tail -n 1 "$state/log")" >&2
    echo
  fi
}

case ${1:-} in
start) start ;;
stop) stop ;;
run)
  shift
  run "$@"
  ;;
podman)
  shift
  own_podman "$@"
  ;;
*) usage ;;
esac
