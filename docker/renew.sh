#!/usr/bin/env bash
# Creates missing secrets, renews certificates that expire soon, and has the running programs read them. Run it each day or
# week (`make renew`); `make up` calls it too.
#
#   docker/renew.sh                    what is missing or expires soon
#   docker/renew.sh --renew identity   arguments are handed to `vestibule init`; its --help lists them
#
# A renewed file is written in place, so that containers see it, and SIGHUP makes them read it: no call fails.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}
# Runs as the current user, who then owns the secrets. The folder is made here: Docker would make it as root.
mkdir -p "$VESTIBULE_SECRETS"
said=$(docker run --rm --pull "${VESTIBULE_PULL_POLICY:-never}" --network none --read-only --user "$(id -u):$(id -g)" \
    --volume "$VESTIBULE_SECRETS:/secrets" "${VESTIBULE_IMAGE_PREFIX:-vestibule}/vestibule:${VESTIBULE_TAG:-local}" init --folder /secrets "$@")
sed "s|/secrets/|$VESTIBULE_SECRETS/|" <<<"$said"

for service in identity profile invites gateway console; do
    grep -q "^renewed  */secrets/$service\.pem " <<<"$said" || continue
    mapfile -t containers < <(docker ps --quiet --filter label=com.docker.compose.project=vestibule \
        --filter "label=com.docker.compose.service=$service")
    for container in "${containers[@]}"; do
        docker kill --signal HUP "$container" >/dev/null
        echo "$service ${container:0:12} reads its certificate again"
    done
done
