#!/usr/bin/env bash
# Runs the kits through their cases and histories, and the JavaScript kit in Node and Chromium against `vestibule run`. `make test`
# calls it. Arguments go to pytest.
#
# VESTIBULE_BINARIES names the folder of the programs; without it, .build/debug if it has them, else .build/release.
# CHROMIUM names the browser; without it, chromium, chromium-browser or google-chrome of the path.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Tests/Interop/setup.sh
if [ -z "${VESTIBULE_BINARIES:-}" ]; then
    for folder in .build/debug .build/release; do
        VESTIBULE_BINARIES=$folder
        [ ! -x "$folder/vestibule" ] || [ ! -x "$folder/gateway" ] || break
    done
fi
[ -x "$VESTIBULE_BINARIES/vestibule" ] || {
    echo "kits: $VESTIBULE_BINARIES has no vestibule; \`make build\` makes it" >&2
    exit 1
}
# If there is none, the error follows below.
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -x "$CHROMIUM" ] || {
    echo "kits: there is no Chromium; Sources/install-dependencies.sh test installs Debian's" >&2
    exit 1
}
export VESTIBULE_BINARIES CHROMIUM
Tests/Kits/kotlin/build.sh driver >/dev/null
exec .venv/bin/python -m pytest -p no:cacheprovider Tests/Kits "$@"
