#!/usr/bin/env bash
# Attacks our gRPC server with frames made by hand, while another client's calls go on. `make test` calls it. Arguments go
# to pytest.
#
# Builds the server unless INTEROP_SERVER names it.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Tests/Interop/setup.sh
if [ -z "${INTEROP_SERVER:-}" ]; then
    Sources/build.sh --product rpc-interop-server
    INTEROP_SERVER=$(swift build --show-bin-path)/rpc-interop-server
fi
export INTEROP_SERVER
exec .venv/bin/python -m pytest -p no:cacheprovider Tests/Attack "$@"
