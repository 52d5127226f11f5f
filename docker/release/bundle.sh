#!/usr/bin/env bash
# Writes vestibule-VERSION-linux-ARCHITECTURE.tar, with what a machine without Swift needs: the programs of docker/prebuilt, the
# compose files and scripts, the pages of .build/site. The same files give the same bytes. release.sh calls it.
#
#   docker/release/bundle.sh VERSION ARCHITECTURE FOLDER
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 3 ] || {
    echo "bundle: expected a version, an architecture and a folder (see --help)" >&2
    exit 1
}
version=$1 name=vestibule-$1-linux-$2 folder=$(readlink -f "$3")

cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bundle=$scratch/$name
mkdir "$bundle"
install -D --mode=755 --target-directory="$bundle/bin" docker/prebuilt/{identity,profile,invites,gateway,simulator,vestibule}
# What makes images stays: there are no sources to make them of.
git ls-files -z -- docker ':!docker/release' ':!docker/Dockerfile' ':!docker/collect-libraries.sh' ':!docker/prebuilt.sh' |
    xargs -0 cp --parents --target-directory="$bundle"
# The images of this version, unless VESTIBULE_TAG names others.
find "$bundle/docker" -type f \( -name '*.sh' -o -name '*.yaml' \) -exec sed -i "s/\${VESTIBULE_TAG:-local}/\${VESTIBULE_TAG:-$version}/g" {} +
cp LICENSE CHANGELOG.md docker/release/bundle/start.sh "$bundle"
sed "s/@VERSION@/$version/g; s/@BUNDLE@/$name/g" docker/release/bundle/README.md >"$bundle/README.md"
cp -R .build/site "$bundle/docs"

# Nothing of the machine that it was made on: no owners, times or modes.
chmod -R u=rwX,go=rX "$bundle"
tar --create --file="$folder/$name.tar" --directory="$scratch" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$(git log -1 --format=%ct)" "$name"
