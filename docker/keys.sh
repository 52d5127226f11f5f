#!/usr/bin/env bash
# Replaces our own keys step by step, or tells their states, and has the running programs read them: identity, and profile and
# invites, which have what follows from identity's. What the steps are is in
# docs/run/key-rotation.md.
#
#   docker/keys.sh list                  the keys and when the next step may follow
#   docker/keys.sh rotate                the next step of each kind, if it is time for it
#   docker/keys.sh rotate signing --every 90d
#                                        arguments are handed to `vestibule keys`; its --help lists them
set -euo pipefail
case "${1:-}" in "" | -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}
# How long a session may live says how long refresh keys are kept: as identity's containers have it.
environment=()
[ ! -f .env ] || environment+=(--env-file .env)
[ -z "${VESTIBULE_IDENTITY_SESSION_LIFETIME:-}" ] || environment+=(--env VESTIBULE_IDENTITY_SESSION_LIFETIME)
docker run --rm --network none --read-only --user "$(id -u):$(id -g)" \
    "${environment[@]}" --volume "$VESTIBULE_SECRETS:/secrets" \
    "vestibule/vestibule:${VESTIBULE_TAG:-local}" keys "$@" --folder /secrets

[ "$1" = rotate ] || exit 0
# They would read them by themselves in some seconds.
for service in profile invites identity; do
    mapfile -t containers < <(docker ps --quiet --filter label=com.docker.compose.project=vestibule \
        --filter "label=com.docker.compose.service=$service")
    for container in "${containers[@]}"; do docker kill --signal HUP "$container" >/dev/null; done
done
