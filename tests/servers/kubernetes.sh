#!/usr/bin/env bash
# A Kubernetes API server with its etcd, on loopback, for the tests in tests/kubernetes.rs. Nothing runs beside it:
# no controllers, so a deleted namespace stays Terminating; no scheduler and no nodes.
#
# usage: tests/servers/kubernetes.sh start | stop | build
#   start  builds the server where there is none, starts it, waits for it and prints `URL TOKEN CA-FILE`
#   stop   ends both and removes their files
#   build  compiles the server from Debian's source package, several minutes once, and prints where it is
# env:   KUBERNETES_PORT (16551), ETCD_PORT (16552), ETCD_PEER_PORT (16553): ports
#        KUBE_APISERVER: a server that is there already; KUBERNETES_CACHE: where a built one is kept
set -euo pipefail
source "$(dirname "$0")/lib/server.sh"

port=${KUBERNETES_PORT:-16551} etcd_port=${ETCD_PORT:-16552} peer_port=${ETCD_PEER_PORT:-16553}
state=${TMPDIR:-/tmp}/trueup-kubernetes-$port
cache=${KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/trueup-kubernetes}
version=1.20.2
server=${KUBE_APISERVER:-$cache/kube-apiserver-$version}
token=trueup-test-token

stop() {
  end "$state/server.pid"
  end "$state/etcd.pid"
  rm -rf "$state"
}

# Debian's packages, those of the arguments that are missing.
install_missing() {
  dpkg-query -W -f '${Status}\n' "$@" 2>/dev/null | grep -cx 'install ok installed' | grep -qx $# && return
  install_packages "$@"
}

# Debian's source of the server, below the folder $1. The machine's own package sources are left as they are.
fetch_source() {
  local apt=$1/apt
  mkdir -p "$apt/sources" "$apt/lists/partial" "$1/fetched"
  [ -f /etc/apt/sources.list.d/debian.sources ] &&
    sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$apt/sources/debian.sources"
  [ -f /etc/apt/sources.list ] &&
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/sources/machine.list"
  cat >"$apt/conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources";
Dir::State::lists "$apt/lists";
APT::Sandbox::User "root";
CONF
  cd "$1/fetched"
  APT_CONFIG=$apt/conf apt-get update -qq
  APT_CONFIG=$apt/conf apt-get source -qq --only-source kubernetes >/dev/null
  mkdir -p "$1/go/src/k8s.io"
  mv kubernetes-*/ "$1/go/src/k8s.io/kubernetes"
}

# The vendored reflect2 does not run when built by a Go of today: Debian's own package of it does.
replace_reflect2() {
  local vendored=vendor/github.com/modern-go/reflect2
  rm -f $vendored/*.go $vendored/*.s
  cp /usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} $vendored/
  rm -f $vendored/*_test.go
}

# The description of the API is Go code that is generated from marked packages.
generate_openapi() {
  local generator=$1/openapi-gen packages
  go build -o "$generator" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  packages=$(grep -rlE '^// *\+k8s:openapi-gen=true' --include=*.go pkg staging/src/k8s.io |
    grep -vE 'testdata|sample|_examples|code-generator|/test/' | xargs -n 1 dirname | sort -u |
    sed -e 's|^staging/src/|k8s.io/kubernetes/vendor/|' -e 's|^pkg/|k8s.io/kubernetes/pkg/|' | paste -s -d ,)
  "$generator" --logtostderr --input-dirs "$packages" --output-package k8s.io/kubernetes/pkg/generated/openapi \
    --output-file-base zz_generated.openapi --go-header-file hack/boilerplate/boilerplate.generatego.txt \
    --report-filename "$1/violations"
}

build() {
  [ -x "$server" ] && return
  install_missing golang-1.19-go golang-github-modern-go-reflect2-dev dpkg-dev patch xz-utils
  local work
  work=$(mktemp -d)
  (
    fetch_source "$work"
    cd "$work/go/src/k8s.io/kubernetes"
    export PATH=/usr/lib/go-1.19/bin:$PATH GOPATH=$work/go GOCACHE=$work/cache
    export GO111MODULE=off GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-p=2 CGO_ENABLED=0
    replace_reflect2
    generate_openapi "$work"
    says=k8s.io/kubernetes/vendor/k8s.io/component-base/version
    go build -o "$work/kube-apiserver" \
      -ldflags "-s -w -X $says.gitVersion=v$version -X $says.gitMajor=1 -X $says.gitMinor=20" ./cmd/kube-apiserver
  ) >"$work/log" 2>&1 || {
    tail -n 40 "$work/log" >&2
    echo "the API server cannot be built; the whole log: $work/log" >&2
    exit 1
  }
  # A build that was cut off leaves nothing that looks like a server.
  mkdir -p "$(dirname "$server")"
  mv "$work/kube-apiserver" "$server"
  rm -rf "$work"
}

start_etcd() {
  local client=http://127.0.0.1:$etcd_port peer=http://127.0.0.1:$peer_port
  etcd --data-dir "$state/etcd" --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" \
    >"$state/etcd.log" 2>&1 &
  echo $! >"$state/etcd.pid"
}

start_server() {
  openssl genrsa -out "$state/accounts.key" 2048 2>/dev/null
  openssl rsa -in "$state/accounts.key" -pubout -out "$state/accounts.pub" 2>/dev/null
  echo "$token,admin,admin,\"system:masters\"" >"$state/tokens.csv"
  launch "$server" --etcd-servers="http://127.0.0.1:$etcd_port" --secure-port="$port" --cert-dir="$state/certs" \
    --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --service-cluster-ip-range=10.0.0.0/24 \
    --authorization-mode=RBAC --token-auth-file="$state/tokens.csv" \
    --disable-admission-plugins=ServiceAccount --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$state/accounts.pub" --service-account-signing-key-file="$state/accounts.key"
}

start() {
  install_missing etcd-server curl openssl ca-certificates
  build
  stop
  mkdir -p "$state"
  start_etcd
  start_server
  local url=https://127.0.0.1:$port
  await 'the API server' ready "$url"
  echo "$url $token $state/certs/apiserver.crt"
}

ready() { curl -ksS -H "Authorization: Bearer $token" "$1/readyz" | grep -qx ok; }

case ${1:-} in
start) start ;;
stop) stop ;;
build)
  build
  echo "$server"
  ;;
*) usage ;;
esac
