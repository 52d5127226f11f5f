#!/usr/bin/env bash
# Makes a release of the commit that is checked out, in release/VERSION: the images as OCI archives, a bill of materials of each,
# the bundle for machines without Swift, checksums and signatures. Then it tags the commit, last of all, so that a release that
# failed leaves no tag. CONTRIBUTING, "Releases", says what comes before and after.
#
#   docker/release/release.sh 1.2.3              `make release VERSION=1.2.3` calls it
#   docker/release/release.sh --rehearse 1.2.3   with the programs that are built, whatever version they have; without a tag
#
# It needs Debian 12, Docker and what `make build` needs. Variables:
#   RELEASE_KEY_FILE                a private key (PEM, EC P-256) that signs the checksums, as cosign does
#   MINISIGN_KEY_FILE               minisign's secret key, which signs them as well
#   VESTIBULE_BASE_IMAGE            the images' base by digest, debian@sha256:…
#   DOCKER_COMPOSE                  the command of Compose, version 2
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

refuse() {
    echo "release: $*" >&2
    exit 1
}

is_rehearsal=
if [ "${1:-}" = --rehearse ]; then
    is_rehearsal=yes
    shift
fi
[ $# -eq 1 ] || refuse "expected a version, as in make release VERSION=1.2.3 (see --help)"
version=$1
cd "$(dirname "$0")/../.."
programs=(identity profile invites gateway simulator vestibule)
version_file=Sources/ServiceKit/Metrics/ProgramVersion.swift
output=release/$version

# As semver.org has it, without build metadata: no image's tag can have a plus sign.
number='(0|[1-9][0-9]*)'
identifier='(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
[[ $version =~ ^$number\.$number\.$number(-$identifier(\.$identifier)*)?$ ]] ||
    refuse "'$version' is no semantic version such as 1.2.3 or 1.2.3-rc.1 (https://semver.org, without build metadata)"

refuse_changes() {
    [ -z "$(git status --porcelain)" ] || refuse "the tree has changes that are not committed: $(git status --short | head -n 3)"
}

if [ -z "$is_rehearsal" ]; then
    ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || refuse "the tag v$version exists"
    refuse_changes
    grep -q "^## ${version//./\\.} - [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]$" CHANGELOG.md ||
        refuse "CHANGELOG.md has no section '## $version - $(date +%Y-%m-%d)'"
    grep -qF "current = \"$version\"" "$version_file" || refuse "$version_file doesn't say \"$version\""
fi
docker/release/sign.sh --check
docker version --format '{{.Server.Version}}' >/dev/null || refuse "there is no Docker engine"

commit=$(git rev-parse HEAD)
# The programs of the images and of the bundle are the same files.
[ -n "$is_rehearsal" ] || make --no-print-directory build
docker/prebuilt.sh
for program in "${programs[@]}"; do
    said=$("docker/prebuilt/$program" --version)
    [ -n "$is_rehearsal" ] || [ "$said" = "$program $version (release)" ] || refuse "the program says '$said'"
done

architecture=$(dpkg --print-architecture)
made=$output.new
rm -rf "$made"
mkdir -p "$made"
trap 'rm -rf "$made"' EXIT

echo "release: images"
export VESTIBULE_PROGRAMS=prebuilt VESTIBULE_TAG=$version VESTIBULE_IMAGE_PREFIX=vestibule
read -ra compose <<<"${DOCKER_COMPOSE:-docker compose}"
"${compose[@]}" --file docker/compose.yaml --file docker/compose.dev.yaml build --quiet
images=("${programs[@]/#/vestibule/}")
docker save --output "$made/saved.tar" "${images[@]/%/:$version}"
docker/release/oci_archive.py write "$made/saved.tar" "$made" "$architecture"
rm "$made/saved.tar"
docker/release/oci_archive.py verify "$made"/image-*.oci.tar

echo "release: bills of materials"
Tests/Supply/sbom.sh >/dev/null
for program in "${programs[@]}"; do cp "sbom/$program.cdx.json" "$made/sbom-$program-$version.cdx.json"; done
# The packages that those of Package.swift need in turn.
cp Package.resolved "$made/Package.resolved"

echo "release: bundle"
docs/site/build.sh --complete >/dev/null
docker/release/bundle.sh "$version" "$architecture" "$made"

docker/release/sign.sh "$made" "vestibule $version"
rm -rf "$output"
mv "$made" "$output"
if [ -n "$is_rehearsal" ]; then
    echo "release: $output is a rehearsal, of programs that say '$said'; nothing is tagged"
    exit
fi
refuse_changes
git tag --annotate --message "Vestibule $version" "v$version" "$commit"
echo "release: $output is made and v$version is tagged; \`git push origin v$version\` publishes the tag"
