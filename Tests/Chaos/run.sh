#!/usr/bin/env bash
# Puts load on everything a phone does while programs and the database are killed and frozen at random, and checks then that
# nothing is lost, doubled or left behind. `make chaos` calls it.
#
#   Tests/Chaos/run.sh [--seconds 60] [--seed N] [--rounds N] [--engine distributed] [--logs FOLDER]
#
# VESTIBULE_BINARIES names the folder of the programs; without it, .build/release, which `make build` makes.
# Ends with 'N passed, N failed', of rounds.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Tests/Interop/setup.sh
export VESTIBULE_BINARIES=${VESTIBULE_BINARIES:-.build/release}
[ -x "$VESTIBULE_BINARIES/vestibule" ] || {
    echo "chaos: $VESTIBULE_BINARIES has no vestibule; \`make build\` makes it" >&2
    exit 1
}
exec .venv/bin/python Tests/Chaos/chaos.py "$@"
