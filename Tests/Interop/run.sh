#!/usr/bin/env bash
# Runs foreign gRPC clients against our server. `make test` calls it. Arguments go to pytest.
#
# Builds the test server unless INTEROP_SERVER names it. Where VESTIBULE_INTEROP_IDENTITY, _PROFILE and _INVITES tell
# the addresses of running services, those are called too.
set -euo pipefail

cd "$(dirname "$0")/../.."
Tests/Interop/setup.sh
if [ -z "${INTEROP_SERVER:-}" ]; then
    swift build --product rpc-interop-server
    INTEROP_SERVER=$(swift build --show-bin-path)/rpc-interop-server
fi
export INTEROP_SERVER
exec .venv/bin/python -m pytest -p no:cacheprovider Tests/Interop "$@"
