#!/usr/bin/env bash
# Examines the configuration of each program in its container, with its secrets, and then what runs: `doctor` of each program,
# and `vestibule status`. Changes nothing. docs/run/doctor.md explains the findings.
#
#   docker/doctor.sh            each finding with what mends it
#
# The exit code is 0 if nothing was found, 1 if there are warnings, and 2 if something fails.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
read -ra compose <<<"${DOCKER_COMPOSE:-docker compose}"
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}
files=(--file compose.yaml)
# As Compose does: the environment, else the file .env.
setting() { printenv "$1" || sed -n "s/^$1=//p" .env 2>/dev/null | tail -n 1; }
[ -z "$(setting VESTIBULE_DATABASE_HOST)" ] || files+=(--file compose.external-database.yaml)
for file in $(setting VESTIBULE_COMPOSE_FILES); do files+=(--file "$file"); done

run() { "${compose[@]}" "${files[@]}" run --rm --no-deps -T "$@"; }

worst=0
for program in identity profile invites gateway; do
    echo "$program:"
    status=0
    run "$program" doctor || status=$?
    [ "$status" -le "$worst" ] || worst=$status
done
echo "what runs:"
status=0
run status || status=$?
[ "$status" -eq 0 ] || worst=2
exit "$worst"
