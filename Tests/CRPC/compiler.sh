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

# The oldest nghttp2 that the layer works with: `_Static_assert` in http2/session.c, and what the tests were run against.
nghttp2_minimum=1.52.0

# Finds the libraries, nghttp2 where NGHTTP2_PREFIX says if it is set, and says which it is. Sets LIBRARY_FLAGS and
# LIBRARIES.
find_libraries() {
    if [ -n "${NGHTTP2_PREFIX:-}" ]; then
        export PKG_CONFIG_PATH=$NGHTTP2_PREFIX/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    fi
    if ! command -v pkg-config >/dev/null; then
        echo "pkg-config was not found. On Debian: apt-get install pkg-config" >&2
        return 1
    fi
    if ! pkg-config --exists "libnghttp2 >= $nghttp2_minimum" openssl zlib; then
        echo "The headers of nghttp2 ($nghttp2_minimum or later), OpenSSL or zlib were not found. On Debian:" \
            "apt-get install libnghttp2-dev libssl-dev zlib1g-dev" >&2
        return 1
    fi
    read -ra LIBRARY_FLAGS <<<"$(pkg-config --cflags libnghttp2 openssl zlib)"
    read -ra LIBRARIES <<<"$(pkg-config --libs libnghttp2 openssl zlib) -lpthread"
    echo "nghttp2 $(pkg-config --modversion libnghttp2)"
}

# Sets C_FLAGS to what Package.swift has for clang; another compiler's warnings are not ours to keep.
set_flags() {
    C_FLAGS=(-std=c11 -D_GNU_SOURCE -DDEBUG=1)
    if "$CC" --version | grep -q clang; then
        C_FLAGS+=(-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Werror)
    fi
}

# Where the sources of the layer's floors find each other's headers.
layer_includes() { INCLUDES=(-I"$root/Sources/CRPC" -I"$root/Sources/CRPC/include"); }

# The sources of the layer. Sets LAYER.
layer_sources() { mapfile -t LAYER < <(find "$root/Sources/CRPC" -name '*.c' | sort); }

# object_of TARGET_FOLDER SOURCE: the name of its object, which tells the folders apart.
object_of() {
    local path=${2#"$root"/}
    path=${path//\//-}
    echo "$1/${path%.c}.o"
}

# compile_sources TARGET_FOLDER FLAGS… -- SOURCES…: makes an object of each source that is newer than its object.
compile_sources() {
    local target=$1 flags=() objects=() source object header newest_header
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
    while IFS= read -r header; do
        if [ -z "$newest_header" ] || [ "$header" -nt "$newest_header" ]; then newest_header=$header; fi
    done < <(find "$root/Sources/CRPC" "$root/Tests/CRPC" "$root/Tests/Fuzz" -name '*.h')
    objects=()
    for source in "$@"; do
        object=$(object_of "$target" "$source")
        objects+=("$object")
        if [ "$source" -nt "$object" ] || [ "$newest_header" -nt "$object" ]; then
            "$CC" "${C_FLAGS[@]}" "${flags[@]}" -c -o "$object" "$source"
        fi
    done
    for object in "$target"/*.o; do # of sources that have gone
        [[ " ${objects[*]} " == *" $object "* ]] || rm -f "$object"
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
