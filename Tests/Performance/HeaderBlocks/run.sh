#!/usr/bin/env bash
# What http2/plain_literals.h is worth: instructions of a unary call in the C layer, by callgrind, as it is; with no string kept
# (http2/known_literals.h); and with header blocks left as they came. NGHTTP2_PREFIX=folder takes another nghttp2
# (Tests/CRPC/nghttp2.sh). Takes a minute.
set -euo pipefail

root=$(cd "$(dirname "$0")/../../.." && pwd)
# shellcheck source=Tests/CRPC/compiler.sh
. "$root/Tests/CRPC/compiler.sh"
CC=$(find_compiler -O2 -DWITH_MAIN)
find_libraries || exit 2
layer_includes
layer_sources
build=$root/.build-header-blocks
mkdir -p "$build"

# per_call PROGRAM TOKENS: what a thousand calls and five thousand have in common falls out.
per_call() {
    local calls counts=()
    for calls in 1000 5000; do
        counts+=("$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=measured \
            "$build/$1" "$2" "$calls" 2>&1 | sed -n 's/.*Collected *: *//p')")
    done
    echo $(((counts[1] - counts[0]) / 4000))
}

for kind in full no-string-kept not-rewritten; do
    wrap=()
    if [ $kind = no-string-kept ]; then wrap=(-Wl,--wrap=crpc_known_literals_decode_long); fi
    if [ $kind = not-rewritten ]; then wrap=(-Wl,--wrap=crpc_plain_literals); fi
    "$CC" -std=c11 -D_GNU_SOURCE -O2 "${INCLUDES[@]}" -I"$root/Tests/CRPC" "${LIBRARY_FLAGS[@]}" "${wrap[@]}" \
        -o "$build/$kind" "$root/Tests/Performance/HeaderBlocks/header_blocks.c" "$root/Tests/CRPC/carrier.c" "${LAYER[@]}" \
        "${LIBRARIES[@]}"
done
for tokens in 0 1 100; do
    echo "$tokens tokens: $(per_call full $tokens), no string kept $(per_call no-string-kept $tokens)," \
        "not rewritten $(per_call not-rewritten $tokens)"
done
