#!/usr/bin/env bash
# run.sh ROUNDS [SEED]: gives each decoder of cursors this many random inputs, in addition to edge values in each field. Without SEED
# a random seed is used. It is printed: with it a failure can be repeated.
set -euo pipefail

export VESTIBULE_FUZZ_ROUNDS=${1:?usage: run.sh ROUNDS [SEED]}
export VESTIBULE_FUZZ_SEED=${2:-$RANDOM$RANDOM}
cd "$(dirname "$0")/../.."
Sources/build.sh --build-tests
echo "decoders: $VESTIBULE_FUZZ_ROUNDS rounds, seed $VESTIBULE_FUZZ_SEED"
swift test --skip-build --disable-xctest --filter DecoderFuzzTests
