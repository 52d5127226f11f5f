#!/usr/bin/env bash
# certificates.sh FOLDER: makes the certificates of the TLS tests with the openssl command. Each is NAME.pem, NAME.key:
#
#   authority   signs server, client, expired       other       an authority that nobody trusts
#   server      for localhost and 127.0.0.1         client      names spiffe://test/caller and caller.test
#   expired     as server, its time is over         stranger    as server and client, signed by other
#   partial     for p*.wild.test and *.whole.test   large       as client, with 20 KB of names
#   encrypted   only a key, server's, with a password
set -euo pipefail
cd "$1"

make_authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.pem" \
        -subj "/CN=$1" -days 2 -addext basicConstraints=critical,CA:true 2>/dev/null
}

# make_leaf NAME AUTHORITY ALTERNATIVE_NAMES OPTIONS…
make_leaf() {
    local name=$1 authority=$2 names=$3
    shift 3
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$name.key" -out "$name.csr" \
        -subj "/CN=$name" 2>/dev/null
    printf 'subjectAltName=%s\n' "$names" >"$name.extensions"
    openssl x509 -req -in "$name.csr" -CA "$authority.pem" -CAkey "$authority.key" \
        -set_serial "0x$(openssl rand -hex 8)" -extfile "$name.extensions" -out "$name.pem" "$@" 2>/dev/null
    rm "$name.csr" "$name.extensions"
}

make_authority authority
make_authority other
make_leaf server authority DNS:localhost,IP:127.0.0.1 -days 2
make_leaf client authority URI:spiffe://test/caller,DNS:caller.test,email:nobody@caller.test -days 2
make_leaf expired authority DNS:localhost,IP:127.0.0.1 -days -1
make_leaf stranger other DNS:localhost,IP:127.0.0.1 -days 2
make_leaf partial authority 'DNS:p*.wild.test,DNS:*.whole.test' -days 2
make_leaf large authority "URI:spiffe://test/caller$(printf ',DNS:a-long-name-that-nobody-asks-for-%d.test' {1..400})" -days 2
openssl pkey -in server.key -aes128 -passout pass:secret -out encrypted.key
