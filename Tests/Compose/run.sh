#!/usr/bin/env bash
# Tests the images and compose files on an engine of their own; `make test-compose` calls it. It needs root, and the
# programs that `make build` has built. Ends with one line of counts. Exits with 3 if no engine can be started here, so
# that nothing was tested.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "test-compose: unknown arguments '$*'; it takes none (see --help)" >&2
    exit 2
}

cd "$(dirname "$0")/../.."
skip() {
    printf '\n%s\n' "##### test-compose: NOTHING WAS TESTED: $* #####" "0 passed, 0 failed, 1 skipped"
    exit 3
}
[ "$(id -u)" -eq 0 ] || skip "an engine of its own needs root"
# An engine that the machine's owner installed otherwise will do.
for command in debootstrap dockerd ip iptables strip; do
    command -v "$command" >/dev/null || {
        Sources/install-dependencies.sh compose || skip "$command cannot be installed"
        break
    }
done
Tests/Compose/setup.sh
docker/prebuilt.sh
# grpcio logs each rejected handshake, and the test makes some.
export GRPC_VERBOSITY=NONE GLOG_minloglevel=4
exec .venv-compose/bin/python Tests/Compose/test_compose.py
