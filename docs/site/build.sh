#!/usr/bin/env bash
# Makes the pages of docs a site in .build/site, and fails at a broken link or a page that would make a request to another server.
# Needs python3 with venv; the first run installs docs/site/requirements.txt in .build/docs-venv.
#
#     docs/site/build.sh              builds the site, checks it, and prints where it is
#     docs/site/build.sh --complete   fails if the programs were not built, whose --help is a part of the site
#     docs/site/build.sh --serve      serves it on 127.0.0.1:8000 instead, and builds anew when a page changes
#
# The programs are those in .build/release or .build/debug, or in the folder that DOCS_PROGRAMS names.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || [ "$*" = --serve ] || [ "$*" = --complete ] || {
    echo "docs/site/build.sh: takes --complete or --serve, not '$*'; --help describes both" >&2
    exit 2
}

cd "$(dirname "$0")/../.."
requirements=docs/site/requirements.txt
venv=.build/docs-venv
installed=$venv/installed-requirements.txt
# The theme prints an advertisement of its makers otherwise.
export NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true

if ! cmp -s "$requirements" "$installed"; then
    rm -rf "$venv"
    python3 -m venv "$venv" || {
        echo "docs: python3 can't make virtual environments; on Debian or Ubuntu: apt-get install python3-venv" >&2
        exit 1
    }
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$requirements"
    cp "$requirements" "$installed"
fi
if [ "${1:-}" = --serve ]; then
    exec "$venv/bin/mkdocs" serve --config-file docs/site/mkdocs.yml --dev-addr 127.0.0.1:8000
fi
docs/site/program_help.py || {
    [ "${1:-}" != --complete ] || exit 1
    echo "docs: without the pages of configuration and commands" >&2
}
# Not with --quiet, which hides warnings from --strict, too: then nothing fails.
said=$("$venv/bin/mkdocs" build --strict --clean --config-file docs/site/mkdocs.yml 2>&1) || {
    grep -v '^INFO' <<<"$said" >&2
    exit 1
}
docs/site/check_requests.py .build/site
echo "docs: $PWD/.build/site/index.html"
