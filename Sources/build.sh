#!/usr/bin/env bash
# Calls `swift build` with the arguments that it is given, so that a new plan compiles nothing anew that has not changed.
#
# SwiftPM gives the compiler the traits of a package (those of swift-protobuf) in the order of a hash table, which is another
# one in each process. When it plans again, because there is a file more or another option, these modules and all that import
# them are compiled again if the order came out otherwise. With one seed it never does. Tests don't run
# with that seed: their programs should see other orders each time.
set -euo pipefail
export SWIFT_DETERMINISTIC_HASHING=1
exec swift build "$@"
