#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints the version of Gatehouse. Its only place is Sources/Base/GatehouseVersion/BuildVersion.swift.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^ *package static let number = "\([0-9.]*\)"$/\1/p' Sources/Base/GatehouseVersion/BuildVersion.swift)
[ -n "$version" ] || { echo "version.sh: there is no version in BuildVersion.swift" >&2; exit 1; }
echo "$version"
