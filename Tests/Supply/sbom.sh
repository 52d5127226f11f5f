#!/usr/bin/env bash
# Writes what goes into each image to sbom/NAME.cdx.json (CycloneDX 1.5). `make sbom` calls it, after `make up` or a build of
# the images; VESTIBULE_TAG names theirs.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "sbom: unknown arguments '$*'; it takes none (see --help)" >&2
    exit 2
}

cd "$(dirname "$0")/../.."
tag=${VESTIBULE_TAG:-local}
mkdir -p sbom
dependencies=$(mktemp)
container=
trap 'rm -f "$dependencies"; [ -z "$container" ] || docker rm "$container" >/dev/null' EXIT
swift package show-dependencies --format json >"$dependencies"
for name in identity profile invites gateway simulator vestibule; do
    container=$(docker create "vestibule/$name:$tag")
    docker export "$container" | Tests/Supply/sbom.py "$name" "$dependencies" "$tag" >"sbom/$name.cdx.json.new"
    mv "sbom/$name.cdx.json.new" "sbom/$name.cdx.json"
    docker rm "$container" >/dev/null
    container=
    echo "sbom/$name.cdx.json: $(grep -c '"bom-ref"' "sbom/$name.cdx.json") components"
done
