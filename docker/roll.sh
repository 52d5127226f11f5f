#!/usr/bin/env bash
# Replaces the containers of a service one by one without a failed call. The new ones have the image that the tag names
# now and the secrets that are there now. Beside each old container a new one is started; when that is healthy the old one
# is told to stop, which ends its calls first. Migrations of the new image are applied before.
#
#   docker/roll.sh identity   or profile, invites, gateway; `make roll SERVICE=identity` calls it
#
# For the gateway VESTIBULE_PUBLISH must be a range of two ports or more (127.0.0.1:8080-8081): the new container takes the
# one that is free. What stands before it must know both, or be in the network, as the proxy of the profile `https` is.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
service=${1:-}
case "$service" in
identity | profile | invites | gateway) ;;
*)
    # PostgreSQL's folder is one container's.
    echo "roll: '$service' cannot be rolled; identity, profile, invites and gateway can" >&2
    exit 1
    ;;
esac
read -ra compose <<<"${DOCKER_COMPOSE:-docker compose}"
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}

filter=(--filter label=com.docker.compose.project=vestibule --filter "label=com.docker.compose.service=$service")
mapfile -t old < <(docker ps --quiet "${filter[@]}")
[ ${#old[@]} -gt 0 ] || {
    echo "roll: no $service runs; \`make up\` starts it" >&2
    exit 1
}
# The files that it was started with.
names=$(docker inspect --format '{{index .Config.Labels "com.docker.compose.project.config_files"}}' "${old[0]}")
IFS=, read -ra names <<<"$names"
files=()
for name in "${names[@]}"; do files+=(--file "$name"); done

if [ "$service" = gateway ]; then
    "${compose[@]}" "${files[@]}" config gateway | grep -Eq '^ *published: "?[0-9]+-[0-9]+"?$' || {
        echo "roll: the gateway's port is one container's; give it a range (VESTIBULE_PUBLISH=127.0.0.1:8080-8081) and" \
            '`make up` once' >&2
        exit 1
    }
fi

# Those of the new version, which the old one can live with (see CONTRIBUTING, "Migrations").
[ "$service" = gateway ] ||
    "${compose[@]}" --progress quiet "${files[@]}" run --rm --no-deps --no-TTY "$service-migrate"

for container in "${old[@]}"; do
    "${compose[@]}" --progress quiet "${files[@]}" up --detach --wait --no-deps --no-recreate \
        --scale "$service=$((${#old[@]} + 1))" "$service"
    # To the end of its calls, which compose.yaml gives 30 s.
    docker stop --time 40 "$container" >/dev/null
    docker rm "$container" >/dev/null
    echo "replaced $service ${container:0:12}"
done
