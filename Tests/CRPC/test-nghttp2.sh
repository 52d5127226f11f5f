#!/usr/bin/env bash
# Runs the C layer's tests and the fuzzers' inputs against the nghttp2 of Debian's next releases,
# besides the machine's own, with which `make test` runs them. `make test-nghttp2` calls it. Takes some
# minutes.
#
# Prints a line for each version, and 'N passed, N failed' as the last one. Where the sources cannot be had, it says so and
# ends with 3: nothing was tested.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
passed=0 failed=0
for suite in trixie sid; do
    export NGHTTP2_PREFIX=$root/.build-nghttp2/$suite
    if ! "$root/Tests/CRPC/nghttp2.sh" "$NGHTTP2_PREFIX" "$suite"; then
        echo "$suite's nghttp2 cannot be had here; nothing was tested against it" >&2
        exit 3
    fi
    for run in "CRPC/run.sh" "Fuzz/run.sh 0"; do
        log=$root/.build-nghttp2/$suite-${run%%/*}.log
        # What failed is shown; whether anything did is judged by the last line, below.
        # shellcheck disable=SC2086
        "$root"/Tests/$run >"$log" 2>&1 || grep -v '^ok ' "$log" || true
        last=$(tail -n 1 "$log")
        if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        else
            failed=$((failed + 1))
        fi
        echo "$suite, $run: $last"
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
