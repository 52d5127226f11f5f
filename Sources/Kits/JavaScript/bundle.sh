#!/usr/bin/env bash
# Makes the modules that apps load out of source/ and Generated/: each one file that imports nothing of ours.
#
#   Sources/Kits/JavaScript/bundle.sh            writes them
#   Sources/Kits/JavaScript/bundle.sh --check    changes nothing; fails if one is not what it would write
#
# Needs esbuild (Debian's package). Users of the kit need neither.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")"
command -v esbuild >/dev/null || {
    echo "bundle.sh: esbuild is missing; on Debian or Ubuntu: apt-get install esbuild" >&2
    exit 1
}

# Members of the kit's own objects, which get short names.
internal='^(_.*|adopt|change|exchange|forget|form|isOurs|isTold|left|listener|named|pause|promise|replaced|until|watchers)$'

# bundle <module>: the module's text
bundle() {
    esbuild "source/$1.js" --bundle --format=esm --minify --charset=utf8 --target=es2022 --platform=neutral --external:node:* \
        --log-level=warning \
        --mangle-props="$internal" --banner:js="// Vestibule"
}

# types <part>…: the text of a file of types
types() {
    echo "// Made of source/ and Generated/ by bundle.sh."
    for part in "$@"; do
        echo
        grep -v '^// Code generated' "$part.d.ts"
    done
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
bundle vestibule >"$temporary/vestibule.js"
bundle vestibule-session >"$temporary/vestibule-session.js"
bundle vestibule-texts >"$temporary/vestibule-texts.js"
bundle vestibule-node >"$temporary/vestibule-node.js"
types source/session Generated/credentials source/client Generated/messages >"$temporary/vestibule.d.ts"
{
    types source/session Generated/credentials
    echo
    echo "export { SessionClient as Vestibule };"
} >"$temporary/vestibule-session.d.ts"

stale=false
for file in "$temporary"/*; do
    name=$(basename "$file")
    if [ "${1:-}" = --check ]; then
        cmp -s "$file" "$name" || { echo "bundle.sh: $name is not fresh" >&2 && stale=true; }
    else
        cp "$file" "$name"
    fi
done
if $stale; then
    echo "bundle.sh: run Sources/Kits/JavaScript/bundle.sh and commit" >&2
    exit 1
fi
