#!/usr/bin/env bash
# Runs the Swift tests that a pattern matches, which must be built, into a log. Prints failures, and as the last line three numbers: passed,
# failed, skipped.
#
#   Tests/Runner/swift_counts.sh PATTERN LOG
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

status=0
SWIFT_BACKTRACE=enable=no SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 \
    swift test --skip-build --disable-xctest --filter "$1" >"$2" 2>&1 || status=$?
# grep's status is 1 where it finds nothing.
count() { grep -cE "$1" "$2" || [ $? -eq 1 ]; }
grep -E '^✘ (Test|Suite)' "$2" || [ $? -eq 1 ]
failed=$(count '^✘ Test ".*(failed after|was failed)' "$2")
# A run that ended early, or failed in another way.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$(count '^✔ Test ".* passed after' "$2") $failed $(count '^➜ Test ' "$2")"
