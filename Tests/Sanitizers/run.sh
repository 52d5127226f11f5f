#!/usr/bin/env bash
# Runs the tests of the RPC layer, and of what asks other servers on it, with ThreadSanitizer and with AddressSanitizer, Swift
# and C alike. `make test` calls it.
# Arguments are the sanitizers: thread, address.
#
# Prints 'N passed, N failed' as the last line.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
export SWIFT_BACKTRACE=enable=no
# Leaks are left to the tests of the C layer: the runtime keeps what it allocated once.
export ASAN_OPTIONS=detect_leaks=0
export TSAN_OPTIONS="suppressions=$PWD/thread.supp exitcode=66"
[ $# -gt 0 ] || set -- thread address
# Instrumented tests are slow: more at once than there are cores starve each other into their time limits.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$(nproc)
# These keep all cores busy, and so run after the others.
export STRESS_CALLS=4
busy='StressTests|EarlyCancellationTests'
passed=0 failed=0

# Runs all tests.
run_tests() {
    local status=0
    swift test --skip-build --disable-xctest "$@" --skip "$busy" || status=$?
    swift test --skip-build --disable-xctest "$@" --filter "$busy" || status=$?
    return "$status"
}

for sanitizer in "$@"; do
    build=(--sanitize "$sanitizer" --scratch-path "../../.build-$sanitizer")
    log=$(mktemp)
    status=0
    ../../Sources/build.sh --build-tests "${build[@]}" && run_tests "${build[@]}" 2>&1 | tee "$log" ||
        status=$?
    good=$(grep '^✔ Test ' "$log" | grep -vc '^✔ Test run with ' || true)
    bad=$(grep '^✘ Test .* failed after' "$log" | grep -vc '^✘ Test run with ' || true)
    grep -q 'ThreadSanitizer: reported\|ERROR: AddressSanitizer' "$log" && bad=$((bad + 1))
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    # Once more at the end, where who looks for the reason finds it. That there is none is no failure.
    grep -E '^✘ Test .* (recorded an issue|failed after)|^SUMMARY: ' "$log" || true
    rm -f "$log"
    passed=$((passed + good)) failed=$((failed + bad))
    echo "$sanitizer: $good passed, $bad failed"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
