#!/usr/bin/env bash
# Writes SHA256SUMS of all files of a folder, and signs it with the keys that there are.
#
#   docker/release/sign.sh FOLDER COMMENT   the comment is signed by minisign as well
#   docker/release/sign.sh --check          only looks whether the keys can be used
#
#   RELEASE_KEY_FILE    a private key (PEM, EC P-256): SHA256SUMS.sig is what `cosign sign-blob` writes, an ECDSA signature over
#                       SHA-256 in DER, as base64
#   MINISIGN_KEY_FILE   minisign's secret key: SHA256SUMS.minisig
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

refuse() {
    echo "sign: $*" >&2
    exit 1
}

key=${RELEASE_KEY_FILE:-}
minisign_key=${MINISIGN_KEY_FILE:-}
if [ -n "$key" ]; then
    [ -r "$key" ] || refuse "RELEASE_KEY_FILE: $key can't be read"
    openssl pkey -in "$key" -noout -text_pub 2>/dev/null | grep -q '^ASN1 OID: prime256v1$' ||
        refuse "RELEASE_KEY_FILE: $key is no EC P-256 key; \`openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256\` makes one"
fi
if [ -n "$minisign_key" ]; then
    command -v minisign >/dev/null || refuse "MINISIGN_KEY_FILE is set, and minisign is missing: apt-get install minisign"
    [ -r "$minisign_key" ] || refuse "MINISIGN_KEY_FILE: $minisign_key can't be read"
fi
[ "$*" != --check ] || exit 0
[ $# -eq 2 ] || refuse "expected a folder and a comment (see --help)"

key=${key:+$(readlink -f "$key")}
minisign_key=${minisign_key:+$(readlink -f "$minisign_key")}
cd "$1"
rm -f SHA256SUMS SHA256SUMS.sig SHA256SUMS.minisig
sums=$(find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum --)
echo "$sums" >SHA256SUMS
if [ -n "$key" ]; then openssl dgst -sha256 -sign "$key" SHA256SUMS | base64 --wrap=0 >SHA256SUMS.sig; fi
if [ -n "$minisign_key" ]; then minisign -S -s "$minisign_key" -t "$2" -m SHA256SUMS; fi
[ -n "$key$minisign_key" ] || echo "sign: UNSIGNED: neither RELEASE_KEY_FILE nor MINISIGN_KEY_FILE is set" >&2
