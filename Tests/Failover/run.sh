#!/usr/bin/env bash
# Runs the whole system on three PostgreSQL servers under Patroni, kills the leader under load again and again, and looks for what
# was lost. `make test-failover` calls it.
#
#   Tests/Failover/run.sh [--rounds 3] [--seed N] [--logs FOLDER]
#
# VESTIBULE_BINARIES names the folder of the programs; without it, .build/release, which `make build` makes.
# Ends with 'N passed, N failed'.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Sources/install-dependencies.sh failover
Tests/Interop/setup.sh
export VESTIBULE_BINARIES=${VESTIBULE_BINARIES:-.build/release}
[ -x "$VESTIBULE_BINARIES/vestibule" ] || {
    echo "failover: $VESTIBULE_BINARIES has no vestibule; \`make build\` makes it" >&2
    exit 1
}
exec .venv/bin/python Tests/Failover/failover.py "$@"
