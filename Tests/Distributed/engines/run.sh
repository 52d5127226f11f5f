#!/usr/bin/env bash
# Runs Vestibule on a real distributed database. It was never run on one: neither CockroachDB, YugabyteDB nor Citus could be had where it was
# written. It was run on PostgreSQL itself (`postgresql`), to check the way there.
#
#   run.sh citus|cockroachdb|yugabytedb|postgresql --print               prints the statements that come after the migrations
#   run.sh citus|cockroachdb|yugabytedb|postgresql --address HOST:PORT   runs on a server that is there, without a password or with PGPASSWORD
#   run.sh citus|cockroachdb|yugabytedb --image NAME                     starts a container of this image, on a loopback port, and runs on it
#
# A run makes the database "vestibule" and its roles, migrates, applies the statements, starts all programs with
# VESTIBULE_DATABASE_ENGINE=distributed, walks the main story (`vestibule demo`), and then the story of several users side by side. It
# ends with 'N passed, N failed'. USER_NAME is the superuser (postgres; root for CockroachDB; yugabyte for YugabyteDB).
# VESTIBULE_BINARIES names the folder of the programs; without it, .build/release. The server must hold nothing else.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

refuse() {
    echo "engines/run.sh: $1 (see --help)" >&2
    exit 2
}
engine=${1:-}
case "$engine" in
citus) port=5432 user=postgres command=() environment=(-e POSTGRES_HOST_AUTH_METHOD=trust) ;;
cockroachdb) port=26257 user=root command=(start-single-node --insecure) environment=() ;;
yugabytedb) port=5433 user=yugabyte command=(bin/yugabyted start --background=false) environment=() ;;
postgresql) port=5432 user=postgres command=() environment=() ;;
*) refuse "name an engine: citus, cockroachdb, yugabytedb or postgresql" ;;
esac
folder=$(cd "$(dirname "$0")" && pwd)
case "${2:-}" in
--print)
    [ $# -eq 2 ] || refuse "--print takes nothing more"
    exec python3 "$folder/engine_statements.py" "$engine"
    ;;
--address | --image) [[ $# -eq 3 && -n $3 ]] || refuse "$2 takes one value" ;;
*) refuse "say --print, --address or --image" ;;
esac
address=$3
if [ "$2" = --image ]; then
    [ "$engine" != postgresql ] || refuse "PostgreSQL itself needs no image: give its --address"
    container=$(docker run --detach --rm --publish "127.0.0.1::$port" "${environment[@]}" "$3" "${command[@]}")
    trap 'docker kill "$container" >/dev/null' EXIT
    address=$(docker port "$container" "$port/tcp" | head -n 1)
fi
cd "$folder/../../.."
Tests/Interop/setup.sh
export VESTIBULE_BINARIES=${VESTIBULE_BINARIES:-$PWD/.build/release}
.venv/bin/python "$folder/engine_run.py" "$engine" "$address" "${USER_NAME:-$user}"
