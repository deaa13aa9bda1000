#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     run.sh GATEHOUSE [OPTIONS OF proxies.py]
#
# Tests forward authentication with proxies. Installs the packages of requirements.txt into .build/venv-proxies if they have changed,
# and nothing else.
#
# Status: 0 if all tests that ran have passed, 1 if a test has failed, 77 if no test ran.
set -eu

gatehouse=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
venv=$(realpath "$here/../..")/.build/venv-proxies
if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
    echo "installing into .build/venv-proxies: $(sed -n 's/==.*//p' "$here/requirements.txt" | tr '\n' ' ')"
    mkdir -p "$(dirname "$venv")"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"; }; then
        echo "SKIPPED: the packages cannot be installed; no test ran"
        exit 77
    fi
    cp "$here/requirements.txt" "$venv/installed"
fi
exec "$venv/bin/python" -B "$here/proxies.py" "$gatehouse" "$@"
