#!/usr/bin/env bash
# Tests the whole running system from outside: `vestibule run`, its HTTP and gRPC, its logs, its start and end. `make test`
# calls it. Arguments go to pytest.
#
# VESTIBULE_BINARIES names the folder of the programs; without it, .build/debug if it has them, else .build/release.
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
    echo "end-to-end: $VESTIBULE_BINARIES has no vestibule; \`make build\` makes it" >&2
    exit 1
}
export VESTIBULE_BINARIES
# The tests of the services by a foreign client run against the same stack; none of them may be skipped.
export VESTIBULE_INTEROP_REQUIRED=1
exec .venv/bin/python -m pytest -p no:cacheprovider Tests/EndToEnd "$@"
