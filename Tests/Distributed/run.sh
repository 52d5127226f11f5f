#!/usr/bin/env bash
# Runs the Swift tests of the services and stores with serializable transactions, of which one statement or commit in twenty is undone as if
# another transaction had been in the way (40001, 40P01), then chaos in the same way. `make test-distributed` calls it.
#
#   Tests/Distributed/run.sh [--seconds 60] [--seed N]     of chaos
#
# It needs the programs in .build/release, which `make build` makes. Ends with 'N passed, N failed, N skipped'.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Sources/build.sh --build-tests
log=.build/distributed.log
VESTIBULE_TEST_ENGINE=distributed VESTIBULE_TEST_CONFLICTS=0.05 SWIFT_BACKTRACE=enable=no \
    SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 swift test --skip-build --disable-xctest \
    --filter 'IdentityServiceTests|ProfileServiceTests|InvitesServiceTests|ServiceStoreTests' >"$log" 2>&1 || true
grep -E '^✘' "$log" || true
passed=$(grep -cE '^✔ Test "' "$log" || true) failed=$(grep -cE '^✘ Test "[^"]*".* failed' "$log" || true)
skipped=$(grep -cE '^➜' "$log" || true)
# A run that ended early has no last line.
grep -qE '^(✔|✘) Test run with' "$log" || failed=$((failed + 1))
echo "Swift: $passed passed, $failed failed, $skipped skipped"
if Tests/Chaos/run.sh --engine distributed "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
