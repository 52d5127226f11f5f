#!/usr/bin/env bash
# Records the inputs of the connection fuzzers anew: what our client and our server send each other. To be run, and its
# result committed, when what they send has changed.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/CRPC/compiler.sh
. "$root/Tests/CRPC/compiler.sh"

CC=$(find_compiler -DWITH_MAIN)
layer_includes
layer_sources
build=$root/.build-fuzz
compile_sources "$build/record" -g "${INCLUDES[@]}" -I"$root/Tests/CRPC" -- "${LAYER[@]}" \
    "$root"/Tests/CRPC/{test,memory,rig,rig_callbacks}.c "$root"/Tests/Fuzz/record_seeds.c
# shellcheck disable=SC2046
link_program "$build/record-seeds" -Wl,--wrap=send "$build"/record/*.o $(pkg-config --libs libnghttp2 openssl zlib) -lpthread
mkdir -p "$root"/Tests/Fuzz/corpus/{server,client}_connection
CRPC_FUZZ_CORPUS=$root/Tests/Fuzz/corpus "$build/record-seeds"
