#!/usr/bin/env bash
# Makes the cluster on an empty volume, with the database, and starts the server. As the official image does it: the server
# that makes the database listens on the socket only.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # shellcheck disable=SC2086 # Arguments with spaces between, as the official image takes them.
    initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust ${POSTGRES_INITDB_ARGS:-} >&2
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    pg_ctl --wait --options='-c listen_addresses=' start >&2
    createdb --username=postgres --no-password "$POSTGRES_DB"
    pg_ctl --wait --mode=fast stop >&2
fi
exec "$@" -c 'listen_addresses=*'
