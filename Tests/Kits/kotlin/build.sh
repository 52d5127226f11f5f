#!/usr/bin/env bash
# Compiles the Kotlin kit and what tests it into .build/kotlin, for JVM 1.8 and without warnings. What hasn't changed is not compiled
# again. Prints the class path.
#
#   Tests/Kits/kotlin/build.sh kit       the kit
#   Tests/Kits/kotlin/build.sh driver    the kit, and the driver of the conformance tests
#   Tests/Kits/kotlin/build.sh tests     the kit, and tests of its own
#   Tests/Kits/kotlin/build.sh android   the kit, its files and the sample for Android against stubs of Android's classes, and tests of them
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/../../.."
compiler=.build/kotlin/compiler
libraries=$compiler/kotlin-stdlib.jar:$compiler/kotlinx-coroutines.jar
mkdir -p .build/kotlin
# Tests that run beside each other wait for what another one compiles.
exec 9>.build/kotlin/lock
flock 9
Tests/Kits/kotlin/setup.sh

# compile <name> <class path> <options> -- <folders of sources>: compiles into .build/kotlin/<name>
compile() {
    local name=$1 classpath=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    local stamp
    stamp=$(
        {
            cat "$compiler/requirements.txt" "$0" && echo "$classpath" && cat "${classpath%%:*}/stamp" 2>/dev/null
            find "$@" -name '*.kt' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
        } | sha256sum
    )
    local folder=.build/kotlin/$name
    if [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
    local new
    new=$(mktemp -d ".build/kotlin/$name.XXXXXX")
    chmod 755 "$new"
    # shellcheck disable=SC2046
    java -Xmx1g -XX:TieredStopAtLevel=1 -cp "$compiler/compiler.jar" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler \
        -no-stdlib -no-reflect -jvm-target 1.8 -Xjdk-release=8 -Werror -module-name "vestibule-$name" \
        "${options[@]}" -cp "$classpath" -d "$new" $(find "$@" -name '*.kt' | LC_ALL=C sort) >&2 || {
        rm -rf "$new"
        exit 1
    }
    echo "$stamp" >"$new/stamp"
    rm -rf "$folder"
    mv -T "$new" "$folder"
}

kit=.build/kotlin/kit
# The oldest Kotlin of an app that can have it.
compile kit "$libraries" -Xexplicit-api=strict -language-version 2.1 -api-version 2.1 -- Sources/Kits/Kotlin/src/main Sources/Kits/Kotlin/Generated
# What tests the kit sees its internal declarations.
inside=("-Xfriend-paths=$kit")
case "${1:-}" in
kit) echo "$kit:$libraries" ;;
driver)
    compile driver "$kit:$libraries" "${inside[@]}" -- Tests/Kits/drivers/kotlin
    echo ".build/kotlin/driver:$kit:$libraries"
    ;;
tests)
    compile tests "$kit:$libraries" "${inside[@]}" -- Tests/Kits/kotlin/tests
    echo ".build/kotlin/tests:$kit:$libraries"
    ;;
android)
    compile android-stubs "$kit:$libraries" -- Tests/Kits/kotlin/android-stubs
    compile android ".build/kotlin/android-stubs:$kit:$libraries" -- Sources/Kits/Kotlin/src/android Sources/Kits/Samples/Android
    compile android-tests ".build/kotlin/android:.build/kotlin/android-stubs:$kit:$libraries" "${inside[@]}" -- Tests/Kits/kotlin/android-tests
    echo ".build/kotlin/android-tests:.build/kotlin/android:.build/kotlin/android-stubs:$kit:$libraries"
    ;;
*)
    echo "Tests/Kits/kotlin/build.sh: what is to be built? (see --help)" >&2
    exit 2
    ;;
esac
