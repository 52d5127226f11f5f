#!/usr/bin/env bash
# Runs foreign gRPC clients against our server, and our client against a foreign server. `make test` calls it. Arguments
# go to pytest.
#
# Builds them, and the program that mints client secrets, unless INTEROP_SERVER and INTEROP_CLIENT name them. Where VESTIBULE_INTEROP_IDENTITY, _PROFILE and _INVITES tell
# the addresses of running services, those are called too.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Tests/Interop/setup.sh
if [ -z "${INTEROP_SERVER:-}" ] || [ -z "${INTEROP_CLIENT:-}" ]; then
    Sources/build.sh --product rpc-interop-server
    Sources/build.sh --product rpc-interop-client
    Sources/build.sh --product interop-client-secret
    built=$(swift build --show-bin-path)
fi
export INTEROP_SERVER=${INTEROP_SERVER:-$built/rpc-interop-server}
export INTEROP_CLIENT=${INTEROP_CLIENT:-$built/rpc-interop-client}
exec .venv/bin/python -m pytest -p no:cacheprovider Tests/Interop "$@"
