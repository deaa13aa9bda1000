#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages in the arguments that are missing. If none is missing, it needs no root rights.
set -eu

missing=""
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install.sh: these packages are missing, and there is no apt-get:$missing" >&2
    exit 1
fi
sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing:$missing"
# shellcheck disable=SC2086 # each word is one package
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
    { $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; }
