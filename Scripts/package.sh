#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the Debian packages from the programs in a folder, for the architecture of this machine:
#   Scripts/package.sh FOLDER_OF_THE_PROGRAMS FOLDER_OF_THE_CHECKOUTS
# The packages are in dist.
set -eu
cd "$(dirname "$0")/.."

root=$(pwd)
programs=$(cd "$1" && pwd)
checkouts=$(cd "$2" && pwd)
version=$(Scripts/version.sh)
arch=$(dpkg --print-architecture)
# Packages are made beside their source; only they are kept.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

tree=$work/gatehouse-$version
mkdir "$tree"
cp -r packaging/debian "$tree/debian"
Scripts/debian-changelog.py CHANGELOG.md >"$tree/debian/changelog"
Scripts/third-party.py "$checkouts" >"$work/third-party.txt"
(
    cd "$tree"
    # Swift is no package of Debian, so the dependencies of the build are checked by `make deps`.
    DEB_BUILD_OPTIONS="nocheck noautodbgsym" GATEHOUSE_SOURCE="$root" GATEHOUSE_PROGRAMS="$programs" \
        GATEHOUSE_NOTICES="$work/third-party.txt" \
        dpkg-buildpackage --build=binary --no-sign --no-check-builddeps --no-pre-clean >"$work/log" 2>&1
) || {
    cat "$work/log" >&2
    exit 1
}
grep -i "warning" "$work/log" >&2 || true

mkdir -p dist
for name in gatehouse gatehouse-realms-pam; do
    package=${name}_${version}_$arch.deb
    mv "$work/$package" dist/
    echo "dist/$package ($(du -h "dist/$package" | cut -f 1))"
done
