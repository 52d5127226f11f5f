#!/usr/bin/env bash
# run.sh ROUNDS [SEED]: gives each decoder of cursors so many inputs of chance, beside those at the edges of each field. Without SEED
# the seed is another one each time. It is printed: with it a failure is repeated.
set -euo pipefail

export VESTIBULE_FUZZ_ROUNDS=${1:?usage: run.sh ROUNDS [SEED]}
export VESTIBULE_FUZZ_SEED=${2:-$RANDOM$RANDOM}
cd "$(dirname "$0")/../.."
Sources/build.sh --build-tests
echo "decoders: $VESTIBULE_FUZZ_ROUNDS rounds, seed $VESTIBULE_FUZZ_SEED"
swift test --skip-build --disable-xctest --filter DecoderFuzzTests
