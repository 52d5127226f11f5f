#!/usr/bin/env bash
# Builds the images, creates missing secrets, renews certificates and starts everything; returns when all of it is healthy.
# `make up` calls it. In a release's bundle nothing is built: load.sh loads the images.
#
#   docker/up.sh        as on a server: compose.yaml
#   docker/up.sh dev    with the simulator, ports and debug logs: compose.dev.yaml
#
# Where VESTIBULE_DATABASE_HOST names a PostgreSQL elsewhere, compose.external-database.yaml is added, and then the files of
# VESTIBULE_COMPOSE_FILES.
#
# VESTIBULE_PROGRAMS=prebuilt uses the programs that `make build` has built; other variables are in compose.yaml.
# DOCKER_COMPOSE is the command of Compose, version 2.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
# shellcheck source=compose-files.sh
. ./compose-files.sh "${1:-}"

# Whether a service is started, which depends on its profile.
is_there() { "${compose[@]}" "${files[@]}" config --services | grep -qx "$1"; }

if [ -e Dockerfile ]; then
    [ "${VESTIBULE_PROGRAMS:-built}" != prebuilt ] || ./prebuilt.sh
    "${compose[@]}" "${files[@]}" build
elif [ "${VESTIBULE_PULL_POLICY:-never}" = never ]; then
    # A release's bundle, which nothing can be built of.
    image=${VESTIBULE_IMAGE_PREFIX:-vestibule}/vestibule:${VESTIBULE_TAG:-local}
    docker image inspect "$image" >/dev/null 2>&1 || {
        echo "up: there is no image $image; load.sh loads a release's images" >&2
        exit 1
    }
fi
./renew.sh
# Some versions of Compose wait for a container and then don't mind that it is unhealthy, or that what others wait for has failed.
start() {
    "${compose[@]}" "${files[@]}" up --detach --wait --remove-orphans &&
        [ -z "$(docker ps --quiet --filter label=com.docker.compose.project=vestibule --filter health=unhealthy)" ] &&
        [ -n "$("${compose[@]}" "${files[@]}" port gateway 8080)" ]
}

# If identity can't start, the cause is in the log of the container that runs first, identity-migrate: for example a variable
# that a deployment must set.
start || {
    "${compose[@]}" "${files[@]}" logs --no-log-prefix --tail 20 roles identity-migrate profile-migrate invites-migrate \
        identity profile invites gateway >&2
    ! is_there https || "${compose[@]}" "${files[@]}" logs --no-log-prefix --tail 20 https-folder https >&2
    exit 1
}
scheme=http
# If the gateway has a certificate of its own.
! "${compose[@]}" "${files[@]}" config gateway | grep -q 'VESTIBULE_GATEWAY_TLS_CERTIFICATE_FILE: [^"]' || scheme=https
"${compose[@]}" "${files[@]}" port gateway 8080 | sed "s|^|Vestibule is ready: $scheme://|"
! is_there https || "${compose[@]}" "${files[@]}" port https 8443 | sed 's|^|By HTTPS: https://|'
