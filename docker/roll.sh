#!/usr/bin/env bash
# Replaces the containers of a service one by one without a failed call. The new ones have the image that the tag names
# now and the current secrets. For each old container a new one is started; when the new one is healthy the old one is
# stopped, after it has ended its calls. Migrations of the new image are applied first.
#
#   docker/roll.sh identity   or profile, invites, gateway; `make roll SERVICE=identity` calls it
#   docker/roll.sh --plan     only prints what the migrations of the new images would do, of all services; `make plan` calls it
#
# For the gateway VESTIBULE_PUBLISH must be a range of two ports or more (127.0.0.1:8080-8081): the new container takes the
# free one. A proxy in front of it must know both, or be in the network, as the proxy of the profile `https` is.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
service=${1:-}
case "$service" in
identity | profile | invites | gateway | --plan) ;;
*)
    # PostgreSQL's folder can belong to one container only.
    echo "roll: '$service' cannot be rolled; identity, profile, invites and gateway can" >&2
    exit 1
    ;;
esac
read -ra compose <<<"${DOCKER_COMPOSE:-docker compose}"
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}

# Finds the containers of a service, and the Compose files that they were started with.
find_service() {
    local names name
    local filter=(--filter label=com.docker.compose.project=vestibule --filter "label=com.docker.compose.service=$1")
    mapfile -t old < <(docker ps --quiet "${filter[@]}")
    [ ${#old[@]} -gt 0 ] || {
        echo "roll: no $1 runs; \`make up\` starts it" >&2
        exit 1
    }
    names=$(docker inspect --format '{{index .Config.Labels "com.docker.compose.project.config_files"}}' "${old[0]}")
    IFS=, read -ra names <<<"$names"
    files=()
    for name in "${names[@]}"; do files+=(--file "$name"); done
}

# Runs `migrate` of the image that the tag names now, with the options that follow.
migrate() {
    "${compose[@]}" --progress quiet "${files[@]}" run --rm --no-deps --no-TTY "$1-migrate" migrate "${@:2}"
}

if [ "$service" = --plan ]; then
    outcome=0
    for each in identity profile invites; do
        find_service "$each"
        # 3: not allowed. All of them are asked, and the worst counts.
        migrate "$each" --plan || outcome=$(($? > outcome ? $? : outcome))
        echo
    done
    [ "$outcome" -ne 0 ] || echo "Allowed while the services run, in this order: identity, profile, invites, gateway."
    exit "$outcome"
fi

find_service "$service"
if [ "$service" = gateway ]; then
    "${compose[@]}" "${files[@]}" config gateway | grep -Eq '^ *published: "?[0-9]+-[0-9]+"?$' || {
        echo "roll: the gateway's port is one container's; give it a range (VESTIBULE_PUBLISH=127.0.0.1:8080-8081) and" \
            '`make up` once' >&2
        exit 1
    }
fi

# The migrations of the new version; the old version runs on them too (see CONTRIBUTING, "Migrations").
[ "$service" = gateway ] || migrate "$service"

for container in "${old[@]}"; do
    "${compose[@]}" --progress quiet "${files[@]}" up --detach --wait --no-deps --no-recreate \
        --scale "$service=$((${#old[@]} + 1))" "$service"
    # Waits until its calls have ended, for which compose.yaml allows 30 s.
    docker stop --time 40 "$container" >/dev/null
    docker rm "$container" >/dev/null
    echo "replaced $service ${container:0:12}"
done
