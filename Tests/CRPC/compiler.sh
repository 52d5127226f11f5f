# Sourced by the scripts that build C tests. Sets CC to a compiler whose sanitizers work.

# Prints the first compiler that builds and runs a program with the flags given; fails if there is none.
find_compiler() {
    local folder candidate swift
    folder=$(mktemp -d)
    swift=$(command -v swift || true)
    # A libFuzzer program brings its own main; one that only has the entry point serves both cases.
    cat >"$folder/probe.c" <<'PROBE'
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) { return bytes == NULL && length > 0; }
#ifdef WITH_MAIN
int main(void) { return LLVMFuzzerTestOneInput(NULL, 0); }
#endif
PROBE
    for candidate in "${CC:-}" "${swift:+$(dirname "$(readlink -f "$swift")")/clang}" /opt/swift/usr/bin/clang clang \
        clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 gcc; do
        if [ -n "$candidate" ] && "$candidate" "$@" -o "$folder/probe" "$folder/probe.c" 2>/dev/null &&
            "$folder/probe" -runs=1 >/dev/null 2>&1; then
            echo "$candidate"
            rm -r "$folder"
            return 0
        fi
    done
    rm -r "$folder"
    return 1
}

# Sets C_FLAGS to what Package.swift has for clang; another compiler's warnings are not ours to keep.
set_flags() {
    C_FLAGS=(-std=c11 -D_GNU_SOURCE)
    if "$CC" --version | grep -q clang; then
        C_FLAGS+=(-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Werror)
    fi
}

# compile_sources TARGET_FOLDER FLAGS… -- SOURCES…: makes an object of each source that is newer than its object.
compile_sources() {
    local target=$1 flags=() source object header newest_header
    shift
    set_flags
    while [ "$1" != "--" ]; do
        flags+=("$1")
        shift
    done
    shift
    mkdir -p "$target"
    if [ "$(cat "$target/flags" 2>/dev/null)" != "$CC ${flags[*]}" ]; then
        rm -f "$target"/*.o
        echo "$CC ${flags[*]}" >"$target/flags"
    fi
    newest_header=
    for header in "$root"/Sources/CRPC/{,include/}*.h "$root"/Tests/{CRPC,Fuzz}/*.h; do
        if [ -e "$header" ] && { [ -z "$newest_header" ] || [ "$header" -nt "$newest_header" ]; }; then
            newest_header=$header
        fi
    done
    for source in "$@"; do
        object=$target/$(basename "$source" .c).o
        if [ "$source" -nt "$object" ] || [ "$newest_header" -nt "$object" ]; then
            "$CC" "${C_FLAGS[@]}" "${flags[@]}" -c -o "$object" "$source"
        fi
    done
}

# link_program TARGET FLAGS… : links, and shows what the linker says only where it fails: gold warns of each of
# AddressSanitizer's symbols.
link_program() {
    local target=$1 messages
    shift
    if ! messages=$("$CC" -o "$target" "$@" 2>&1); then
        echo "$messages" >&2
        return 1
    fi
}
