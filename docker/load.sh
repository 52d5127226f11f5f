#!/usr/bin/env bash
# Loads the images of a release from its archives, after it has compared them with SHA256SUMS. Nothing is fetched. Whose SHA256SUMS
# that is says its signature: docs/run/releases.md.
#
#   docker/load.sh [FOLDER]   the folder with the archives and SHA256SUMS; by default the one that the bundle's folder is in
#
# VESTIBULE_TAG names another version than the bundle's.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -le 1 ] || {
    echo "load: expected one folder (see --help)" >&2
    exit 1
}

cd "${1:-$(dirname "$0")/../..}"
version=${VESTIBULE_TAG:-local}
case "$(uname -m)" in
aarch64) architecture=arm64 ;;
*) architecture=amd64 ;;
esac
archives=()
for program in identity profile invites gateway simulator vestibule; do
    archive=image-$program-$version-linux-$architecture.oci.tar
    sum=$(awk -v name="$archive" '$2 == name' SHA256SUMS)
    [ -n "$sum" ] || {
        echo "load: SHA256SUMS in $PWD doesn't list $archive" >&2
        exit 1
    }
    sha256sum --check --strict --quiet <<<"$sum" || {
        echo "load: $archive is not the one of the release; nothing was loaded" >&2
        exit 1
    }
    archives+=("$archive")
done
for archive in "${archives[@]}"; do docker load --quiet --input "$archive"; done
