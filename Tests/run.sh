#!/usr/bin/env bash
# Sets up what the tests need and runs them all: Swift's, C's, foreign gRPC clients and servers, the whole system,
# style rules. `make test` calls it. Ends with one line of counts. How to run one kind alone: README.md beside this.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "Tests/run.sh: takes no arguments, not '$*'; --help tells what it does" >&2
    exit 2
}

cd "$(dirname "$0")/.."
# Writing a backtrace takes minutes on a small machine, and a failed expectation needs none.
export SWIFT_BACKTRACE=enable=no
export WARNINGS_ARE_ERRORS=1
# All tests at once starve each other's tasks: some make keys or start servers, which holds a thread of the pool.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$(($(nproc) * 2))
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
passed=0
failed=0
# What a run prints of a test that failed, and its comments: Swift's, pytest's, the C layer's.
FAILURES='^✘ Test .*(recorded an issue|failed after)|^(FAILED|ERROR|FAIL|FAIL:) |^SUMMARY: |^error: |^↳ '
# What Swift's tests begin with looks like a comment.
HEADER='^↳ (Testing Library Version|Target Platform): '
FAILURES_MAX=40

# run <name> <command...>: runs it, shows what it prints and keeps it.
run() {
    local name=$1
    shift
    echo "== $name"
    local status=0
    "$@" 2>&1 | tee "$log/$name" || status=$?
    # A run may end without such a line; that it failed is told by its status.
    [ "$status" -eq 0 ] || { echo "$name:" && grep -E "$FAILURES" "$log/$name" | grep -vE "$HEADER"; } >>"$log/failures" || true
    return "$status"
}

# count <name> <status> <passed> <failed>: adds to the counts; a run that failed without saying why is one failure.
count() {
    local name=$1 status=$2 good=${3:-0} bad=${4:-0}
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    passed=$((passed + good))
    failed=$((failed + bad))
    echo "== $name: $good passed, $bad failed"
}

Sources/install-dependencies.sh test
Tests/Interop/setup.sh
Sources/build-with-progress.sh --build-tests

status=0
run swift swift test --skip-build --disable-xctest || status=$?
good=$(grep '^✔ Test ' "$log/swift" | grep -vc '^✔ Test run with ' || true)
bad=$(grep '^✘ Test .* failed after' "$log/swift" | grep -vc '^✘ Test run with ' || true)
count swift "$status" "$good" "$bad"

# number <word>: the number before that word in the summary; none if the word isn't there.
number() { sed -n "s/.*\b\([0-9][0-9]*\) $1.*/\1/p" <<<"$summary"; }

# run_pytest <name> <command...>: runs it, and counts by the last line that pytest prints.
run_pytest() {
    local status=0
    run "$@" || status=$?
    summary=$(grep -E '[0-9]+ (passed|failed|error)' "$log/$1" | tail -n 1 || true)
    count "$1" "$status" "$(number passed)" "$(($(number failed) + $(number error) + 0))"
}

binaries=$(swift build --show-bin-path)
export INTEROP_SERVER=$binaries/rpc-interop-server INTEROP_CLIENT=$binaries/rpc-interop-client
export VESTIBULE_BINARIES=$binaries
run_pytest interop Tests/Interop/run.sh --quiet
run_pytest attack Tests/Attack/run.sh --quiet
run_pytest end-to-end Tests/EndToEnd/run.sh --quiet
run_pytest clients Tests/Clients/run.sh --quiet

status=0
run crpc Tests/CRPC/run.sh || status=$?
summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log/crpc" | tail -n 1 || true)
count crpc "$status" "$(number passed)" "$(number failed)"

status=0
run http1 Tests/HTTP1/run.sh || status=$?
summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log/http1" | tail -n 1 || true)
count http1 "$status" "$(number passed)" "$(number failed)"

status=0
run phones Tests/PhoneNumbers/run.sh || status=$?
summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log/phones" | tail -n 1 || true)
count phones "$status" "$(number passed)" "$(number failed)"

# Inputs that once showed a fault, then new ones for a few seconds each.
for seconds in 0 5; do
    status=0
    run fuzz Tests/Fuzz/run.sh "$seconds" || status=$?
    summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log/fuzz" | tail -n 1 || true)
    count fuzz "$status" "$(number passed)" "$(number failed)"
done

status=0
run sanitizers Tests/Sanitizers/run.sh || status=$?
summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log/sanitizers" | tail -n 1 || true)
count sanitizers "$status" "$(number passed)" "$(number failed)"

status=0
run tidy make --no-print-directory tidy || status=$?
count tidy "$status" "$((status == 0))" 0

if [ -s "$log/failures" ]; then
    echo "What failed:"
    head -n "$FAILURES_MAX" "$log/failures" | cut -c 1-300
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
