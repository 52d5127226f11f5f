#!/usr/bin/env bash
# run.sh [CONNECTIONS [SEED]]: compares how our HTTP/1.x reads what clients send with how h11 and llhttp do, over the known shapes
# of request smuggling and as many generated connections (5000) from a seed (another one each time).
#
# Prints a failing connection with its seed, and 'N passed, N failed' as the last line.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/CRPC/compiler.sh
. "$root/Tests/CRPC/compiler.sh"

sanitizers=(-fsanitize=address,undefined -fno-sanitize-recover=all)
if ! CC=$(find_compiler "${sanitizers[@]}" -DWITH_MAIN); then
    echo "No C compiler with sanitizers was found. On Debian: apt-get install clang-14 libclang-rt-14-dev" >&2
    exit 2
fi
find_libraries >/dev/null || exit 2
layer_includes
layer_sources
"$root/Tests/Interop/setup.sh"

build=$root/.build-http1
compile_sources "$build/objects" "${sanitizers[@]}" -g -O2 -fno-omit-frame-pointer "${INCLUDES[@]}" "${LIBRARY_FLAGS[@]}" \
    -- "${LAYER[@]}" "$root/Tests/HTTP1/requests.c"
link_program "$build/requests" "${sanitizers[@]}" "$build"/objects/*.o "${LIBRARIES[@]}"
exec "$root/.venv/bin/python" "$root/Tests/HTTP1/oracles.py" "$build/requests" "$@"
