#!/usr/bin/env bash
# Copies the shared libraries that a program loads, and the certificates of public authorities, into a folder, unless their
# packages are in the base image. It also writes which packages they are from (/var/lib/dpkg/status.d, as in distroless
# images), for scanners.
#
#   collect-libraries.sh PROGRAM FILE-OF-BASE-PACKAGES FOLDER      the Dockerfile calls it
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

[ $# -eq 3 ] || {
    echo "collect-libraries: expected a program, a file and a folder (see --help)" >&2
    exit 2
}
program=$1 base=$2 folder=$3

libraries() { ldd "$program" | awk '/not found/ { print > "/dev/stderr"; exit 1 } $2 == "=>" { print $3 }'; }

# The package of a file. Debian 12 has /lib as a link to /usr/lib, and its packages name either.
package_of() {
    dpkg-query --search "$1" 2>/dev/null || dpkg-query --search "/usr$1" 2>/dev/null ||
        dpkg-query --search "${1#/usr}" 2>/dev/null
}

list=$(libraries)
install -d "$folder/var/lib/dpkg/status.d"
for file in $list /etc/ssl/certs/ca-certificates.crt; do
    if [ "$file" = /etc/ssl/certs/ca-certificates.crt ]; then
        package=ca-certificates
    else
        package=$(package_of "$(readlink -f "$file")" | head -n 1)
        package=${package%: *}
        [ -n "$package" ] || {
            echo "collect-libraries: no package has $file" >&2
            exit 1
        }
    fi
    if grep -qxF -e "$package" -e "${package%%:*}" "$base"; then continue; fi
    # Under /usr, since the base image has links in the other places.
    target=$folder$file
    case "$file" in /lib/* | /lib64/*) target=$folder/usr$file ;; esac
    install -D --mode=644 "$(readlink -f "$file")" "$target"
    dpkg-query --status "$package" >"$folder/var/lib/dpkg/status.d/${package%%:*}"
done
