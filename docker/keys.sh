#!/usr/bin/env bash
# Rotates our own keys step by step, or lists their states, and has the running programs read them again: identity, and
# profile and invites, which have keys that are derived from identity's. docs/run/key-rotation.md explains the steps.
#
#   docker/keys.sh list                  the keys and when the next step may follow
#   docker/keys.sh rotate                the next step of each kind, if it is time for it
#   docker/keys.sh rotate signing --every 90d
#                                        arguments are handed to `vestibule keys`; its --help lists them
set -euo pipefail
case "${1:-}" in "" | -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}
# The lifetime of sessions decides how long refresh keys are kept, so it must be the one of identity's containers.
environment=()
[ ! -f .env ] || environment+=(--env-file .env)
[ -z "${VESTIBULE_IDENTITY_SESSION_LIFETIME:-}" ] || environment+=(--env VESTIBULE_IDENTITY_SESSION_LIFETIME)
docker run --rm --pull "${VESTIBULE_PULL_POLICY:-never}" --network none --read-only --user "$(id -u):$(id -g)" \
    "${environment[@]}" --volume "$VESTIBULE_SECRETS:/secrets" \
    "${VESTIBULE_IMAGE_PREFIX:-vestibule}/vestibule:${VESTIBULE_TAG:-local}" keys "$@" --folder /secrets

[ "$1" = rotate ] || exit 0
# Without the signal they would read them within some seconds.
for service in profile invites identity; do
    mapfile -t containers < <(docker ps --quiet --filter label=com.docker.compose.project=vestibule \
        --filter "label=com.docker.compose.service=$service")
    for container in "${containers[@]}"; do docker kill --signal HUP "$container" >/dev/null; done
done
