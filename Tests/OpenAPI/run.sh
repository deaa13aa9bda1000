#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     run.sh GATEHOUSE
#
# Checks docs/openapi.yaml against the server. Installs the packages of requirements.txt into .build/venv-openapi if they have
# changed, and nothing else.
#
# Status: 0 if all tests have passed, 1 if a test has failed, 77 if no test ran.
set -eu

gatehouse=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
venv=$(realpath "$here/../..")/.build/venv-openapi
if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
    echo "installing into .build/venv-openapi: $(sed -n 's/==.*//p' "$here/requirements.txt" | tr '\n' ' ')"
    mkdir -p "$(dirname "$venv")"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"; }; then
        echo "SKIPPED: the packages cannot be installed; no test ran"
        exit 77
    fi
    cp "$here/requirements.txt" "$venv/installed"
fi
exec "$venv/bin/python" -B "$here/openapi.py" "$gatehouse"
