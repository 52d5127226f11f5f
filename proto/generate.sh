#!/usr/bin/env bash
# Writes the Swift messages, stubs and test doubles of every proto, what the client kits know of it, and what pages say of it.
# `make proto` calls it.
#
#   proto/generate.sh           writes the folders named Generated and those parts of pages anew
#   proto/generate.sh --check   changes nothing; fails if something is not what the protos and plugins give
#
# Needs protoc (Debian: protobuf-compiler, libprotobuf-dev). The plugins are built in .build first, unless PLUGIN_FOLDER
# names a folder that has them.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/.."

fail() {
    echo "proto/generate.sh: $1" >&2
    exit 1
}

check=false
case "${1:-}" in
"") ;;
--check) check=true ;;
*) fail "unknown argument '$1'; there are --check and --help" ;;
esac
command -v protoc >/dev/null || fail "protoc is missing; on Debian or Ubuntu: apt-get install protobuf-compiler"

build_plugin() {
    # The log is only of interest if the build fails.
    local log
    log=$(Sources/build.sh --product "$1" 2>&1) || {
        echo "$log" >&2
        fail "$1 did not build"
    }
}
if [ -n "${PLUGIN_FOLDER:-}" ]; then
    plugin_folder=$PLUGIN_FOLDER
else
    build_plugin protoc-gen-swift
    build_plugin protoc-gen-vestibule
    plugin_folder=$(swift build --show-bin-path)
fi
for plugin in protoc-gen-swift protoc-gen-vestibule; do
    [ -x "$plugin_folder/$plugin" ] || fail "$plugin_folder has no $plugin"
done

# protos <folder>: the protos in it
protos() {
    (cd "$1" && find . -name '*.proto' | sed 's|^\./||' | LC_ALL=C sort)
}

# generate <folder of protos> <output folder> <name of the descriptor set>: messages and stubs; without a name messages alone
generate() {
    local stubs=()
    [ -z "$3" ] || stubs=(
        --plugin="$plugin_folder/protoc-gen-vestibule"
        --vestibule_out="$2" --vestibule_opt="FileNaming=DropPath,DescriptorSet=$3"
    )
    mkdir -p "$2"
    # File names have no spaces: the tidy check sees to it.
    # shellcheck disable=SC2046
    # Options of methods, which any proto may import, are in the first folder.
    protoc --proto_path="$1" --proto_path=proto \
        --plugin="$plugin_folder/protoc-gen-swift" \
        --swift_out="$2" --swift_opt=Visibility=Public,FileNaming=DropPath \
        "${stubs[@]}" $(protos "$1")
}

# generate_doubles <folder of protos> <output folder> <module of the stubs>: what tests put in place of the services
generate_doubles() {
    mkdir -p "$2"
    # shellcheck disable=SC2046
    protoc --proto_path="$1" \
        --plugin="$plugin_folder/protoc-gen-vestibule" \
        --vestibule_out="$2" --vestibule_opt="FileNaming=DropPath,Doubles=$3" \
        $(protos "$1")
}

# generate_kit <folder of protos> <output folder> <language>: what the kit of a language knows of the API for apps
generate_kit() {
    mkdir -p "$2"
    # shellcheck disable=SC2046
    protoc --proto_path="$1" \
        --plugin="$plugin_folder/protoc-gen-vestibule" \
        --vestibule_out="$2" --vestibule_opt="Kit=$3,Texts=Sources/GatewayService/Pages" \
        $(protos "$1" | grep '^vestibule/app/v1/')
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

stale=false
# refresh <function that generates> <folder of protos> <folder of generated code> <what else the function takes>
refresh() {
    local function=$1
    shift
    local fresh="$temporary/$2"
    "$function" "$1" "$fresh" "${3:-}"
    if $check; then
        diff -ru "$2" "$fresh" || stale=true
    else
        mkdir -p "$2"
        find "$2" -type f -delete
        cp "$fresh"/* "$2/"
    fi
}
refresh generate proto Sources/API/Generated APIDescriptors
refresh generate_doubles proto Tests/APIDoubles/Generated API
# One method, whose two packages end alike: OTLP has its stub by hand.
refresh generate Sources/OTLP/Protos Sources/OTLP/Generated
refresh generate Tests/Interop/proto Tests/Interop/Generated InteropDescriptors
refresh generate_kit proto Sources/Kits/Swift/Generated swift
refresh generate_kit proto Sources/Kits/JavaScript/Generated javascript
refresh generate_kit proto Sources/Kits/Kotlin/Generated kotlin

if $check; then proto/pages.py --check || stale=true; else proto/pages.py; fi

if $stale; then
    fail "generated code is not fresh (differences above; + is what it should be): run 'make proto' and commit"
fi
