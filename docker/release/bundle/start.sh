#!/usr/bin/env bash
# Starts everything on this machine, with a PostgreSQL of its own in the folder .vestibule of the current one; Ctrl-C stops it.
# Looks first whether the libraries and PostgreSQL are there, and names the packages that are missing.
#
#   ./start.sh           arguments are those of `bin/vestibule run`
#   ./start.sh --check   only looks
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

here=$(dirname "$(readlink -f "$0")")
# The packages of Debian 12 with the libraries that the programs load; they bring what these need in turn.
declare -A package_of=(
    [libcrypto.so.3]=libssl3 [libcurl.so.4]=libcurl4 [libicui18n.so.72]=libicu72 [libicuuc.so.72]=libicu72
    [libmimalloc.so.2]=libmimalloc2.0 [libnghttp2.so.14]=libnghttp2-14 [libphonenumber.so.8]=libphonenumber8 [libpq.so.5]=libpq5
    [libssl.so.3]=libssl3 [libstdc++.so.6]=libstdc++6 [libz.so.1]=zlib1g)

# ldd fails for a program that lacks a library, and its words are what counts.
said=$(for program in "$here"/bin/*; do ldd "$program" 2>&1 || true; done)
missing=$(
    while read -r library _; do echo "${package_of[$library]:-$library}"; done < <(grep '=> not found' <<<"$said")
    # The authorities by which providers are recognized.
    [ -e /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || echo postgresql
)
system=$(. /etc/os-release && echo "${VERSION_CODENAME:-} ${PRETTY_NAME:-another system}")
if grep -q 'version .* not found' <<<"$said" || { [ -n "$missing" ] && [ "${system%% *}" != bookworm ]; }; then
    echo "start: the programs are made for Debian 12, and this is ${system#* }; use the images (README.md, \"In containers\")" >&2
    exit 1
fi
if [ -n "$missing" ]; then
    printf 'start: packages are missing; as root:\n    apt-get install %s\n' "$(sort -u <<<"$missing" | paste -sd ' ')" >&2
    exit 1
fi
[ "${1:-}" != --check ] || exit 0
exec "$here/bin/vestibule" run "$@"
