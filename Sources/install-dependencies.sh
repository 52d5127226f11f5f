#!/usr/bin/env bash
# Makes sure that everything is there that Vestibule needs beside the Swift toolchain. The targets of the Makefile call it.
#
#   Sources/install-dependencies.sh           what building and running need
#   Sources/install-dependencies.sh test      what the tests and CI need as well
#   Sources/install-dependencies.sh bench     what the benchmarks need as well
#   Sources/install-dependencies.sh compose   what the tests of the containers need, and nothing for building
#   Sources/install-dependencies.sh failover  what the test of a failover needs as well
#
# Installs Debian packages (Debian 12, Ubuntu 24.04 and later) only if some are missing; otherwise it needs neither the
# network nor root. It never creates, starts or changes a PostgreSQL cluster.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

fail() {
    echo "dependencies: $*" >&2
    exit 1
}

swift_minimum=6.2
# As `_Static_assert` in Sources/CRPC/http2/session.c has it.
nghttp2_minimum=1.52
# As `_Static_assert` in Sources/CCurl/shim.h has it.
curl_minimum=7.88
build_packages=(curl g++ libcurl4-openssl-dev libicu-dev libmimalloc-dev libnghttp2-dev libphonenumber-dev libpq-dev libssl-dev make
    pkg-config postgresql zlib1g-dev)
bench_packages=(binutils golang-go golang-google-grpc-dev libgrpc++-dev libprotobuf-dev nghttp2-client nghttp2-server nginx-light
    protobuf-compiler protobuf-compiler-grpc python3 python3-venv strace util-linux valgrind)
compose_packages=(binutils debootstrap docker.io iproute2 iptables make python3 python3-venv)
failover_packages=(etcd-server openssl patroni procps python3 python3-venv)
test_packages=(binutils caddy default-jre-headless esbuild git haproxy libprotobuf-dev minisign node-react node-react-dom node-typescript nodejs openssl
    pgbouncer procps prometheus protobuf-compiler python3 python3-venv)
# Ubuntu has Chromium as a snap alone, so any that is there will do.
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    test_packages+=(chromium)

case "${1:-}" in
"") packages=("${build_packages[@]}") ;;
test) packages=("${build_packages[@]}" "${test_packages[@]}") ;;
bench) packages=("${build_packages[@]}" "${bench_packages[@]}") ;;
compose) packages=("${compose_packages[@]}") ;;
failover) packages=("${build_packages[@]}" "${failover_packages[@]}") ;;
*) fail "unknown argument '$1'; there are 'test', 'bench', 'compose', 'failover' and --help" ;;
esac

check_swift() {
    command -v swift >/dev/null ||
        fail "no Swift toolchain; install Swift $swift_minimum or later from https://www.swift.org/install/linux/"
    local version
    local said
    said=$(swift --version 2>&1) || fail "'swift --version' fails: $said"
    version=$(sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' <<<"$said" | head -n 1)
    [ -n "$version" ] || fail "'swift --version' says nothing that looks like a version"
    [ "$(printf '%s\n' "$swift_minimum" "$version" | sort -V | head -n 1)" = "$swift_minimum" ] ||
        fail "Swift $version is too old; install $swift_minimum or later from https://www.swift.org/install/linux/"
}

is_installed() {
    dpkg-query --show --showformat='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

# Runs a command as root.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install() {
    echo "dependencies: installing $*"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Debian's package makes a cluster and starts it as it is installed. Nobody asked for one: keep it from that, and leave
# the setting as it was.
install_with_postgresql() {
    local settings=/etc/postgresql-common/createcluster.conf
    is_installed postgresql-common || install postgresql-common
    local before
    before=$(mktemp)
    [ ! -f "$settings" ] || cp "$settings" "$before"
    echo 'create_main_cluster = false' | as_root tee "$settings" >/dev/null
    local status=0
    install "$@" || status=$?
    if [ -s "$before" ]; then as_root cp "$before" "$settings"; else as_root rm -f "$settings"; fi
    rm -f "$before"
    return "$status"
}

# Debian's packages start a Prometheus, a Caddy, an HAProxy and so on of their own, now and with the machine. Nobody asked for them:
# tests and benchmarks start theirs.
services=(caddy etcd haproxy nginx patroni pgbouncer prometheus)
install_without_starting() {
    local policy=/usr/sbin/policy-rc.d made=no status=0
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\ncase "${1%%%%.service}" in %s) exit 101 ;; esac\n' "$(IFS='|' && echo "${services[*]}")" |
            as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
        made=yes
    fi
    install_with_postgresql_if_missing "$@" || status=$?
    [ "$made" = no ] || as_root rm -f "$policy"
    # Where that cannot be said (a container without an init), nothing would start them either.
    local service
    for service in "${services[@]}"; do
        case " $* " in
        *" $service "* | *" $service-light "* | *" $service-server "*)
            as_root update-rc.d "$service" disable >/dev/null 2>&1 || true
            as_root systemctl disable "$service" >/dev/null 2>&1 || true
            ;;
        esac
    done
    return "$status"
}

install_with_postgresql_if_missing() {
    case " $* " in
    *" postgresql "*) install_with_postgresql "$@" ;;
    *) install "$@" ;;
    esac
}

check_versions() {
    pkg-config --exists "libnghttp2 >= $nghttp2_minimum" 2>/dev/null ||
        fail "nghttp2 $nghttp2_minimum or later is needed; there is $(pkg-config --modversion libnghttp2 2>/dev/null || echo none)"
    pkg-config --exists "libcurl >= $curl_minimum" 2>/dev/null ||
        fail "libcurl $curl_minimum or later is needed; there is $(pkg-config --modversion libcurl 2>/dev/null || echo none)"
}

[ "${1:-}" = compose ] || check_swift
command -v dpkg-query >/dev/null || {
    # Another system: we can only look whether the libraries and programs are there.
    pkg-config --exists icu-i18n openssl libpq zlib 2>/dev/null && command -v postgres >/dev/null && check_versions && exit 0
    fail "this is no Debian or Ubuntu; install what these packages hold by your system's means: ${packages[*]}"
}
missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
if [ ${#missing[@]} -eq 0 ]; then
    [ "${1:-}" = compose ] || check_versions
    exit 0
fi
if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "missing: ${missing[*]}; as root: apt-get install ${missing[*]}"
fi
install_without_starting "${missing[@]}" || fail "apt-get could not install: ${missing[*]} (see above)"
[ "${1:-}" = compose ] || check_versions
