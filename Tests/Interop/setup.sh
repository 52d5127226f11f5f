#!/usr/bin/env bash
# Makes .venv with what the interop tests need, at the top of the project; does nothing if it is there already.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "Tests/Interop/setup.sh: unknown arguments '$*'; it takes none (see --help)" >&2
    exit 2
}

cd "$(dirname "$0")/../.."
requirements=Tests/Interop/requirements.txt
installed=.venv/installed-requirements.txt

if cmp -s "$requirements" "$installed"; then exit 0; fi
command -v python3 >/dev/null || {
    echo "interop setup: python3 is missing; on Debian or Ubuntu: apt-get install python3 python3-venv" >&2
    exit 1
}
rm -rf .venv
python3 -m venv .venv || {
    echo "interop setup: python3 can't make virtual environments; on Debian or Ubuntu: apt-get install python3-venv" >&2
    exit 1
}
.venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
cp "$requirements" "$installed"
