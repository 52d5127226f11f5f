#!/usr/bin/env bash
# Builds http1_speed.c with the C layer, optimized, and runs it: what HTTP/1.x costs without sockets.
set -euo pipefail

root=$(cd "$(dirname "$0")/../../.." && pwd)
# shellcheck source=Tests/CRPC/compiler.sh
. "$root/Tests/CRPC/compiler.sh"
CC=$(find_compiler -O2 -DWITH_MAIN)
find_libraries >/dev/null || exit 2
layer_includes
build=$root/.build-http1-speed
mkdir -p "$build"
"$CC" -std=c11 -D_GNU_SOURCE -O2 "${INCLUDES[@]}" -o "$build/http1_speed" "$root/Tests/Performance/HTTP1/http1_speed.c" \
    "$root"/Sources/CRPC/{http,http1}/*.c "$root"/Sources/CRPC/loop/{turn,timers,error,stats,loop,mailbox,watch,sockets}.c
"$build/http1_speed"
