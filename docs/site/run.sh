#!/usr/bin/env bash
# Builds the documentation site. `make docs` calls it; an argument names the folder of the built programs.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../.."
requirements=docs/site/requirements.txt
environment=.build/docs/venv
if ! cmp -s "$requirements" "$environment/installed-requirements.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
    cp "$requirements" "$environment/installed-requirements.txt"
fi
# The theme's advertisement of its successor.
export NO_MKDOCS_2_WARNING=1
exec "$environment/bin/python" docs/site/build.py "$@"
