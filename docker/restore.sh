#!/usr/bin/env bash
# Restores the database of the containers from the backups that the profile `backup` made, into a new volume: the database from before
# stays as it is. docs/run/back-up.md explains it.
#
#   docker/restore.sh                                         says what it would do
#   docker/restore.sh --confirm                               the newest backup, and all of the log
#   docker/restore.sh --to 2026-11-28T05:50:00Z --confirm     what was committed until then
#   docker/restore.sh --backup 20261128T055000Z --confirm     from this backup on
#   docker/restore.sh dev --confirm                           where `make up DEV=1` started the containers
#
# While the files are written, everything runs on. Then all containers are stopped, PostgreSQL replays the log on the new volume, all
# sessions end, accounts that were deleted since are deleted again, and everything is started. If PostgreSQL can't replay the log,
# everything is started on the database from before.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
mode=
[ "${1:-}" != dev ] || { mode=dev && shift; }
# shellcheck source=compose-files.sh
. ./compose-files.sh "$mode"
which=() confirmed=
while [ $# -gt 0 ]; do
    case "$1" in
    --to | --backup)
        [ $# -ge 2 ] || { echo "restore: $1 needs a value" >&2 && exit 64; }
        which+=("$1" "$2") && shift
        ;;
    --confirm) confirmed=yes ;;
    *) echo "restore: unknown argument '$1' (see --help)" >&2 && exit 64 ;;
    esac
    shift
done
[ -z "$(setting VESTIBULE_DATABASE_HOST)" ] || {
    echo "restore: the database is not in a container (VESTIBULE_DATABASE_HOST); docs/run/back-up.md has the steps for it" >&2
    exit 1
}
setting_or() { local value && value=$(setting "$1") && [ -n "$value" ] && echo "$value" || echo "$2"; }
image=$(setting_or VESTIBULE_IMAGE_PREFIX vestibule)/vestibule:$(setting_or VESTIBULE_TAG local)
database_image=$(setting_or VESTIBULE_POSTGRES_IMAGE postgres:15-bookworm)
backups=$(setting_or VESTIBULE_BACKUP_FOLDER vestibule_backup)
case "$backups" in .*) backups=$PWD/$backups ;; esac
former=$(setting_or VESTIBULE_DATABASE_VOLUME vestibule_database)
new=vestibule_database_$(date -u +%Y%m%dT%H%M%SZ)
before=$(docker volume inspect --format . "$former" 2>/dev/null) || before=

# Root without rights but to read the backups, whose owner is another user than PostgreSQL's.
vestibule_restore() {
    docker run --rm --pull "$(setting_or VESTIBULE_PULL_POLICY never)" --network none --user 0:0 --cap-drop ALL --cap-add DAC_READ_SEARCH \
        --security-opt no-new-privileges:true --volume "$backups:/backup:ro" "$@"
}
if [ -z "$confirmed" ]; then
    vestibule_restore "$image" restore --from /backup --data-folder /restored "${which[@]}"
    exit
fi

# The variable is one of .env, so that everything else finds the volume too.
use_volume() {
    touch .env
    if grep -q '^VESTIBULE_DATABASE_VOLUME=' .env; then
        sed -i "s|^VESTIBULE_DATABASE_VOLUME=.*|VESTIBULE_DATABASE_VOLUME=$1|" .env
    else
        [ -z "$(tail -c 1 .env)" ] || echo >>.env
        echo "VESTIBULE_DATABASE_VOLUME=$1" >>.env
    fi
    [ -z "${VESTIBULE_DATABASE_VOLUME:-}" ] || export VESTIBULE_DATABASE_VOLUME=$1
}
run_compose() { "${compose[@]}" --progress quiet "${files[@]}" "$@"; }

docker volume create "$new" >/dev/null
undo() {
    trap - EXIT
    echo "restore: it failed; see above" >&2
    if [ -n "${switched:-}" ]; then
        # Whatever of this fails, the rest of the way back is still tried.
        run_compose stop postgres || true
        run_compose rm --force postgres >/dev/null || true
        use_volume "$former"
        if [ -n "$before" ]; then
            echo "restore: starting everything on the database from before" >&2
            ./up.sh $mode || true
        fi
    fi
    docker volume rm "$new" >/dev/null || true
    exit 1
}
trap undo EXIT
vestibule_restore --volume "$new:/restored" "$image" restore --from /backup --data-folder /restored --confirm "${which[@]}"
docker run --rm --network none --user 0:0 --cap-drop ALL --cap-add CHOWN --cap-add DAC_READ_SEARCH --volume "$new:/restored" \
    --entrypoint chown "$database_image" -R postgres:postgres /restored

echo "stopping everything"
run_compose --profile '*' stop
switched=yes
use_volume "$new"
run_compose up --detach --no-deps --force-recreate postgres
container=$(run_compose ps --quiet postgres)
echo "PostgreSQL replays the log"
until docker exec "$container" pg_isready --quiet --host=127.0.0.1 --username=postgres; do
    read -r status restarts < <(docker inspect --format '{{.State.Status}} {{.RestartCount}}' "$container")
    if [ "$status" = exited ] || [ "$restarts" -gt 0 ]; then
        docker logs --tail 20 "$container" >&2
        exit 1
    fi
    sleep 0.5
done
run_compose run --rm --no-deps roles
for service in identity profile invites; do run_compose run --rm --no-deps "$service-migrate" >/dev/null; done
deleted=()
if vestibule_restore --entrypoint test "$image" -e /backup/deleted-accounts.log; then
    deleted=(--deleted-accounts /backup/deleted-accounts.log)
fi
run_compose run --rm --no-deps --volume "$backups:/backup:ro" identity after-restore "${deleted[@]}" --confirm
trap - EXIT
./up.sh $mode
echo "The database is in the volume $new (VESTIBULE_DATABASE_VOLUME in .env)."
[ -z "$before" ] || echo "That from before is in $former: \`docker volume rm $former\` deletes it."
