#!/usr/bin/env bash
# Builds and runs the tests of the C RPC layer, with AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer;
# those with several threads again with ThreadSanitizer, where the compiler has it. Arguments are words; only tests
# whose names contain one of them run. `make test` calls it.
#
# NGHTTP2_PREFIX=folder takes nghttp2 from there; nghttp2.sh puts Debian's newest one into a folder.
#
# Prints a line for each test, and 'N passed, N failed' as the last one.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/CRPC/compiler.sh
. "$root/Tests/CRPC/compiler.sh"

sanitizers=(-fsanitize=address,undefined -fno-sanitize-recover=all)
if ! CC=$(find_compiler "${sanitizers[@]}" -DWITH_MAIN); then
    echo "No C compiler with sanitizers was found. On Debian: apt-get install clang-14 libclang-rt-14-dev" >&2
    exit 2
fi
if ! command -v openssl >/dev/null; then
    echo "openssl was not found. On Debian: apt-get install openssl" >&2
    exit 2
fi
find_libraries || exit 2
layer_includes
layer_sources

build=$root/.build-crpc-tests
common=("${sanitizers[@]}" -g -O1 -fno-omit-frame-pointer "${INCLUDES[@]}" -I"$root/Tests/CRPC"
    "${LIBRARY_FLAGS[@]}")
compile_sources "$build/layer" "${common[@]}" -include "$root/Tests/CRPC/memory.h" -- "${LAYER[@]}"
# Without the failing allocations: it makes none.
compile_sources "$build/crash" "${common[@]}" -I"$root/Sources/CCrash/include" -- "$root"/Sources/CCrash/*.c
compile_sources "$build/tests" "${common[@]}" -I"$root/Sources/CCrash/include" -- "$root"/Tests/CRPC/*.c
link_program "$build/crpc-tests" "${sanitizers[@]}" -Wl,--wrap=recv,--wrap=SSL_shutdown \
    "$build"/layer/*.o "$build"/crash/*.o "$build"/tests/*.o "${LIBRARIES[@]}"

certificates=$(mktemp -d)
trap 'rm -rf "$certificates"' EXIT
"$root/Tests/CRPC/certificates.sh" "$certificates"
export CRPC_TEST_CERTIFICATES=$certificates
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

passed=0 failed=0
# Runs a program of tests, and adds up what its last line says.
run() {
    local line has_summary=no
    while IFS= read -r line; do
        if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) has_summary=yes
        else
            printf '%s\n' "$line"
        fi
    done < <("$@" 2>&1)
    if [ "$has_summary" = no ]; then
        echo "FAIL $1 ended early"
        failed=$((failed + 1))
    fi
}

run "$build/crpc-tests" "$@"
if [ $# -eq 0 ] && CC=$(find_compiler -fsanitize=thread -DWITH_MAIN); then
    plain=(-fsanitize=thread -g -O1 "${INCLUDES[@]}" -I"$root/Tests/CRPC" "${LIBRARY_FLAGS[@]}")
    compile_sources "$build/threads" "${plain[@]}" -- "${LAYER[@]}" "$root"/Tests/CRPC/{test,loop_tests}.c
    link_program "$build/crpc-thread-tests" -fsanitize=thread "$build"/threads/*.o "${LIBRARIES[@]}"
    run "$build/crpc-thread-tests" thread
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
