#!/usr/bin/env bash
# Builds the image out of what this machine's toolchain compiles: one binary without libraries, which resolves names and
# checks certificates by itself.
#
# usage: deploy/container/build.sh NAME | --context FOLDER
#   NAME              what the image is to be called; docker, podman or buildah builds it, the first that is there
#   --context FOLDER  makes the folder alone that the image is built of
# env:   PROFILE (dist), cargo's; BUILDER: `docker build` or what else builds a folder
#        CERTIFICATES (/etc/ssl/certs/ca-certificates.crt): the authorities that are trusted
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
profile=${PROFILE:-dist}
certificates=${CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}

# The program that is built for this machine, with the C library in it.
compile() {
  local triple target built
  triple=$(rustc -vV | sed -n 's/^host: //p')
  # With the target said, the flags are not those of build scripts and macros.
  (cd "$here/../.." && RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static" \
    cargo build --locked --quiet --bin trueup --profile "$profile" --target "$triple")
  target=${CARGO_TARGET_DIR:-$here/../../target}
  built=$target/$triple/${profile/#dev/debug}/trueup
  if readelf --program-headers --wide "$built" | grep -q INTERP; then
    echo "$built needs libraries; is the C library's static form there (Debian: libc6-dev)?" >&2
    exit 1
  fi
  install -m 755 "$built" "$1/trueup"
}

# All that the image is built of.
context() {
  mkdir -p "$1"
  compile "$1"
  install -m 644 "$certificates" "$1/ca-certificates.crt"
  install -m 644 "$here/Dockerfile" "$1/Dockerfile"
}

builder() {
  local tool
  if [ -n "${BUILDER:-}" ]; then
    echo "$BUILDER"
    return
  fi
  # The client of docker may be there without a server.
  if docker info >/dev/null 2>&1; then
    echo 'docker build'
    return
  fi
  for tool in podman buildah; do
    command -v "$tool" >/dev/null && echo "$tool build" && return
  done
  echo 'there is neither docker, podman nor buildah' >&2
  exit 1
}

case ${1:-} in
--context)
  context "${2:?a folder}"
  ;;
'' | -*)
  sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 64
  ;;
*)
  build=$(builder)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  context "$work"
  # It may be several words.
  $build --tag "$1" "$work"
  ;;
esac
