#!/usr/bin/env bash
# run.sh SECONDS [fuzzer…]: runs each fuzzer of the C RPC layer for that long, under AddressSanitizer and
# UndefinedBehaviorSanitizer, from the inputs in corpus/ and what earlier runs found. 0 seconds: the inputs in corpus/
# only.
#
# Prints a line for each fuzzer, and 'N passed, N failed' as the last one. An input that fails is kept and named: it
# belongs into corpus/ before its fault is mended.
#
# NGHTTP2_PREFIX=folder takes nghttp2 from there; Tests/CRPC/nghttp2.sh puts Debian's newest one into a folder.
set -euo pipefail

seconds=${1:?usage: run.sh SECONDS [fuzzer…]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/CRPC/compiler.sh
. "$root/Tests/CRPC/compiler.sh"

flags=(-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
if ! CC=$(find_compiler "${flags[@]}"); then
    echo "No C compiler with libFuzzer was found. On Debian: apt-get install clang-14 libclang-rt-14-dev" >&2
    exit 2
fi
find_libraries || exit 2
layer_includes
layer_sources

fuzzers=("$@")
[ $# -gt 0 ] || fuzzers=(server_connection client_connection http1_connection http1_head http1_chunks rewriting plain_literals request
    deframer gzip metadata timeout status proxy_header)
build=$root/.build-fuzz
compiled=(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -g -O1 -fno-omit-frame-pointer
    "${INCLUDES[@]}" -I"$root/Tests/Fuzz" -I"$root/Tests/CRPC" "${LIBRARY_FLAGS[@]}")
compile_sources "$build/objects" "${compiled[@]}" -- "${LAYER[@]}" "$root"/Tests/CRPC/carrier.c "$root"/Tests/Fuzz/{fuzz,request_oracle}.c \
    "$root"/Tests/Fuzz/*_fuzzer.c
shared=()
for source in "${LAYER[@]}" "$root"/Tests/CRPC/carrier.c "$root"/Tests/Fuzz/{fuzz,request_oracle}.c; do
    shared+=("$(object_of "$build/objects" "$source")")
done

export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
passed=0 failed=0
for fuzzer in "${fuzzers[@]}"; do
    folder=$build/$fuzzer
    mkdir -p "$folder/found" "$folder/failures"
    link_program "$folder/fuzzer" "${flags[@]}" "${shared[@]}" \
        "$(object_of "$build/objects" "$root/Tests/Fuzz/${fuzzer}_fuzzer.c")" "${LIBRARIES[@]}"
    options=(-max_len=8192 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 "-artifact_prefix=$folder/failures/")
    case $fuzzer in
    http1_*) options+=("-dict=$root/Tests/Fuzz/http1.dict") ;;
    *_connection) options+=("-dict=$root/Tests/Fuzz/frames.dict") ;;
    esac
    if [ "$seconds" = 0 ]; then
        options+=(-runs=0 "$root/Tests/Fuzz/corpus/$fuzzer")
    else
        options+=("-max_total_time=$seconds" "$folder/found" "$root/Tests/Fuzz/corpus/$fuzzer")
    fi
    if "$folder/fuzzer" "${options[@]}" >"$folder/log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log")
        covered=$(grep -o ' cov: [0-9]*' "$folder/log" | tail -1 || true)
        echo "ok   $fuzzer ($runs runs,${covered:- cov: 0})"
        passed=$((passed + 1))
    else
        echo "FAIL $fuzzer: $folder/log"
        grep -E 'not so:|ERROR:|runtime error:|SUMMARY:|Test unit written' "$folder/log" || true
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
