#!/usr/bin/env bash
# Puts the programs that `make build` has built into docker/prebuilt, without their symbols, for images that are made
# without the Swift image (see Dockerfile). The machine must be of the images' distribution.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "prebuilt: unknown arguments '$*'; it takes none (see --help)" >&2
    exit 2
}

cd "$(dirname "$0")/.."
. /etc/os-release
[ "${VERSION_CODENAME:-}" = bookworm ] || {
    echo "prebuilt: programs built on ${PRETTY_NAME:-this system} do not run in images of Debian 12" >&2
    exit 1
}
mkdir -p docker/prebuilt
for program in identity profile invites gateway simulator vestibule; do
    [ -x ".build/release/$program" ] || {
        echo "prebuilt: .build/release/$program is missing; \`make build\` makes it" >&2
        exit 1
    }
    # Kept if it is up to date, so that Docker finds the image in its cache.
    if [ "docker/prebuilt/$program" -nt ".build/release/$program" ]; then continue; fi
    strip -o "docker/prebuilt/$program" ".build/release/$program"
done
