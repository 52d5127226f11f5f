#!/usr/bin/env bash
# Runs the Swift tests of the services and stores with serializable transactions, of which one statement or commit in twenty is undone as if
# another transaction had been in the way (40001, 40P01), then chaos in the same way, then end-to-end tests on tables that are partitioned by
# their distribution columns, to see which keys each statement touches (statements.py). `make test-distributed` calls it.
#
#   Tests/Distributed/run.sh [--seconds 60] [--seed N]     of chaos
#
# It needs the programs in .build/release, which `make build` makes. Ends with 'N passed, N failed, N skipped'.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Sources/build.sh --build-tests
counted=$(VESTIBULE_TEST_ENGINE=distributed VESTIBULE_TEST_CONFLICTS=0.05 Tests/Runner/swift_counts.sh \
    'IdentityServiceTests|ProfileServiceTests|InvitesServiceTests|ServiceStoreTests' .build/distributed.log)
echo "$counted" | head -n -1
read -r passed failed skipped < <(tail -n 1 <<<"$counted")
echo "Swift: $passed passed, $failed failed, $skipped skipped"
if Tests/Chaos/run.sh --engine distributed "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
Tests/Interop/setup.sh
if .venv/bin/python Tests/Distributed/statements.py; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
