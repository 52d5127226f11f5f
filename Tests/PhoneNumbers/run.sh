#!/usr/bin/env bash
# run.sh: compares how our code reads phone numbers with how PyPI's phonenumbers does, over its example numbers of all regions and
# kinds, in the notations that people use, and with a digit wrong.
#
# Prints what differs, and 'N passed, N failed' as the last line.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "Tests/PhoneNumbers/run.sh: unknown arguments '$*'; it takes none (see --help)" >&2
    exit 2
}

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/.build-phones
"$root/Tests/Interop/setup.sh"

# The two files of ours that read numbers and the C face alone: nothing else has to be built.
mkdir -p "$build/CPhoneNumber"
cp "$root/Sources/CPhoneNumber/include/cphonenumber.h" "$build/CPhoneNumber/"
printf 'module CPhoneNumber { header "cphonenumber.h" export * }\n' >"$build/CPhoneNumber/module.modulemap"
toolchain=$(dirname "$(readlink -f "$(command -v swiftc)")")
compiler=$toolchain/clang++
[ -x "$compiler" ] || compiler=c++
"$compiler" -std=c++17 -O1 -I "$build/CPhoneNumber" -c "$root/Sources/CPhoneNumber/cphonenumber.cc" -o "$build/cphonenumber.o"
swiftc -swift-version 6 -Onone -I "$build/CPhoneNumber" -module-name Numbers -o "$build/numbers" \
    "$root/Sources/Models/PhoneNumber.swift" "$root/Sources/Models/PhonePolicy.swift" "$root/Tests/PhoneNumbers/main.swift" \
    "$build/cphonenumber.o" -lphonenumber -lstdc++

version=$(dpkg-query --show --showformat '${Version}' libphonenumber-dev 2>/dev/null || true)
exec "$root/.venv/bin/python" "$root/Tests/PhoneNumbers/oracle.py" "$build/numbers" "$version"
