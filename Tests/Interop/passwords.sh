#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
# Has passwords hashed by other programs and matched by ours, and the other way round. Installs what is missing: Debian
# packages, and PyPI packages in a virtual environment of its own under .build.

set -eu
cd "$(dirname "$0")/../.."
root=$PWD
venv=$root/.build/interop-venv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

Scripts/install.sh apache2-utils whois slapd slapd-contrib argon2 python3-venv

if ! "$venv/bin/python" -c 'import argon2, bcrypt, passlib' 2>/dev/null; then
    python3 -m venv "$venv"
    # From bcrypt 4.1 on, passlib cannot tell its version.
    "$venv/bin/pip" install --quiet passlib argon2-cffi bcrypt==4.0.1
fi

"$venv/bin/python" Tests/Interop/passwords.py make "$folder"
# PACKAGE names another package with the same tests, SWIFT_TEST what else swift test is to be told.
GATEHOUSE_INTEROP=$folder swift test --package-path "${PACKAGE:-$root}" ${SWIFT_TEST:-} --filter InteropTests
"$venv/bin/python" Tests/Interop/passwords.py verify "$folder"
