#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Verifies password hashes of other programs with Gatehouse, and hashes of Gatehouse with the other programs. Installs missing Debian
# packages, and PyPI packages into a virtual environment under .build.

set -eu
cd "$(dirname "$0")/../.."
root=$PWD
venv=$root/.build/interop-venv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

Scripts/install.sh apache2-utils whois slapd slapd-contrib argon2 python3-venv

if ! "$venv/bin/python" -c 'import argon2, bcrypt, passlib' 2>/dev/null; then
    python3 -m venv "$venv"
    # passlib cannot read the version of bcrypt 4.1 and later.
    "$venv/bin/pip" install --quiet passlib argon2-cffi bcrypt==4.0.1
fi

"$venv/bin/python" Tests/Interop/passwords.py make "$folder"
# PACKAGE is another package with the same tests. SWIFT_TEST has further arguments for swift test.
SWIFT_DETERMINISTIC_HASHING=1 GATEHOUSE_INTEROP=$folder swift test --package-path "${PACKAGE:-$root}" ${SWIFT_TEST:-} --filter InteropTests
"$venv/bin/python" Tests/Interop/passwords.py verify "$folder"
