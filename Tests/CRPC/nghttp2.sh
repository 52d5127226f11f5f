#!/usr/bin/env bash
# nghttp2.sh FOLDER [SUITE]: builds the nghttp2 that a suite of Debian has (sid, where none is named) and puts headers,
# libraries and pkg-config's file into FOLDER, so that the layer can be tested against it:
#
#   Tests/CRPC/nghttp2.sh .build-nghttp2 && NGHTTP2_PREFIX=$PWD/.build-nghttp2 Tests/CRPC/run.sh
#
# The source comes from the mirror that this machine's apt uses, by apt's own means, with lists of packages of their own:
# nothing is installed, and apt's settings stay. Needs Debian and gcc. A folder that has the suite's newest version
# already is left as it is.
set -euo pipefail

prefix=${1:?usage: nghttp2.sh FOLDER [SUITE]}
suite=${2:-sid}
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)

fail() {
    echo "nghttp2.sh: $*" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "this is no Debian"
mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    sed -n 's/^Debian Debian //p' | head -n 1)
[ -n "$mirror" ] || fail "apt knows no mirror of Debian; 'apt-get update' as root first"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial"
echo "deb-src $mirror $suite main" >"$work/sources.list"
options=(-qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work" -o "APT::Sandbox::User=$(id -un)")
apt-get "${options[@]}" update
version=$(apt-cache "${options[@]}" showsrc --only-source nghttp2 | sed -n 's/^Version: *//p' | sort -V | tail -n 1)
[ -n "$version" ] || fail "$suite has no nghttp2"
upstream=${version%-*}
if [ -e "$prefix/lib/libnghttp2.so" ] &&
    [ "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion libnghttp2)" = "$upstream" ]; then
    echo "nghttp2 $upstream is there"
    exit 0
fi

cd "$work"
apt-get "${options[@]}" source --download-only --tar-only "nghttp2=$version"
tar -xf nghttp2_"$upstream".orig.tar.*
cd "$work"/nghttp2-*/lib

# The library alone, of which each source stands for itself: what its own build would find out of the system is known.
IFS=. read -r major minor patch <<<"$upstream"
number=$(printf '0x%02x%02x%02x' "$major" "$minor" "$patch")
sed "s/@PACKAGE_VERSION@/$upstream/; s/@PACKAGE_VERSION_NUM@/$number/" includes/nghttp2/nghttp2ver.h.in \
    >includes/nghttp2/nghttp2ver.h
mkdir -p "$prefix/include/nghttp2" "$prefix/lib/pkgconfig"
find . -name '*.c' -print0 | xargs -0 -P "$(nproc)" -n 4 gcc -std=gnu11 -O2 -g -fPIC -c -Iincludes -I. -I.. \
    -DBUILDING_NGHTTP2 -DHAVE_ARPA_INET_H -DHAVE_NETINET_IN_H -DHAVE_TIME_H -DHAVE_CLOCK_GETTIME \
    -DHAVE_DECL_CLOCK_MONOTONIC=1
gcc -shared -Wl,-soname,libnghttp2.so.14 -o "$prefix/lib/libnghttp2.so.14" ./*.o
ln -sf libnghttp2.so.14 "$prefix/lib/libnghttp2.so"
cp includes/nghttp2/nghttp2.h includes/nghttp2/nghttp2ver.h "$prefix/include/nghttp2/"
cat >"$prefix/lib/pkgconfig/libnghttp2.pc" <<PC
Name: libnghttp2
Description: HTTP/2 library, as built by Tests/CRPC/nghttp2.sh
Version: $upstream
Libs: -L$prefix/lib -Wl,-rpath,$prefix/lib -lnghttp2
Cflags: -I$prefix/include
PC
echo "nghttp2 $upstream is in $prefix"
