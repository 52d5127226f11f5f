#!/usr/bin/env bash
# Makes .venv-compose with what the tests of the containers need, at the top of the project; does nothing if it is there.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "Tests/Compose/setup.sh: unknown arguments '$*'; it takes none (see --help)" >&2
    exit 2
}

cd "$(dirname "$0")/../.."
requirements=Tests/Compose/requirements.txt
installed=.venv-compose/installed-requirements.txt

if cmp -s "$requirements" "$installed"; then exit 0; fi
rm -rf .venv-compose
python3 -m venv .venv-compose
.venv-compose/bin/python -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
cp "$requirements" "$installed"
