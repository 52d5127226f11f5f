#!/usr/bin/env bash
# Makes the secrets that aren't there yet, renews certificates that end soon, and has the programs that run read those.
# `make renew` calls it, each day or week, and so does `make up`. Other arguments are handed to `vestibule init`, such as
# --renew identity.
#
# A renewed file is written where it is, so that containers see it, and SIGHUP has them read it: no call fails.
set -euo pipefail

cd "$(dirname "$0")"
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}
# By this folder's owner, so that the secrets are theirs. It is made here: Docker would make it root's.
mkdir -p "$VESTIBULE_SECRETS"
said=$(docker run --rm --network none --read-only --user "$(id -u):$(id -g)" \
    --volume "$VESTIBULE_SECRETS:/secrets" "vestibule/vestibule:${VESTIBULE_TAG:-local}" init --folder /secrets "$@")
sed "s|/secrets/|$VESTIBULE_SECRETS/|" <<<"$said"

for service in identity profile invites gateway; do
    grep -q "^renewed  */secrets/$service\.pem " <<<"$said" || continue
    mapfile -t containers < <(docker ps --quiet --filter label=com.docker.compose.project=vestibule \
        --filter "label=com.docker.compose.service=$service")
    for container in "${containers[@]}"; do
        docker kill --signal HUP "$container" >/dev/null
        echo "$service ${container:0:12} reads its certificate again"
    done
done
