#!/usr/bin/env bash
# Upgrades a filled database of 0.9.0 under load, service by service, and goes back. `make test-upgrade` calls it.
#
#   Tests/Upgrade/run.sh [--accounts 100000] [--phones 8] [--seconds 5] [--seed 1]
#
# It needs the programs of this version in .build/release, which `make build` makes. Those of 0.9.0 it builds itself, the first time, in
# .build/upgrade. Ends with 'N passed, N failed'.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Tests/Interop/setup.sh
[ -x .build/release/vestibule ] || {
    echo "upgrade: .build/release has no vestibule; \`make build\` makes it" >&2
    exit 1
}
exec .venv/bin/python Tests/Upgrade/upgrade.py "$@"
