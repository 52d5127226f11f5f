# Sourced by up.sh and restore.sh, in this folder: the command of Compose in `compose`, and its files in `files`, which depend on
# the deployment's variables. The first argument is `dev` or empty.
# shellcheck shell=bash disable=SC2034
read -ra compose <<<"${DOCKER_COMPOSE:-docker compose}"
files=(--file compose.yaml)
case "${1:-}" in
"") ;;
dev) files+=(--file compose.dev.yaml) ;;
*)
    echo "$(basename "$0" .sh): unknown argument '$1'; there are 'dev' and --help" >&2
    exit 1
    ;;
esac
# As Compose does: the environment, else the file .env.
setting() { printenv "$1" || sed -n "s/^$1=//p" .env 2>/dev/null | tail -n 1; }
[ -z "$(setting VESTIBULE_DATABASE_HOST)" ] || files+=(--file compose.external-database.yaml)
for file in $(setting VESTIBULE_COMPOSE_FILES); do files+=(--file "$file"); done
export VESTIBULE_SECRETS=${VESTIBULE_SECRETS:-$PWD/secrets}
