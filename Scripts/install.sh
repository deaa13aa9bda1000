#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
# Installs those of the Debian packages named that are not there; does nothing, and needs no rights, if all are.
set -eu

missing=""
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install.sh: these are needed, and there is no apt-get to get them:$missing" >&2
    exit 1
fi
sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing:$missing"
# shellcheck disable=SC2086 # one word a package is what is wanted
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
    { $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; }
