#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
#     run.sh GATEHOUSE [OPTIONS OF proxies.py]
#
# Has proxies ask the server who comes in. What requirements.txt names is installed into .build/venv-proxies the first time, and
# whenever it changes; nothing else is.
#
# Status: 0, all that could run has passed; 1, something has not; 77, nothing was tried.
set -eu

gatehouse=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
venv=$(realpath "$here/../..")/.build/venv-proxies
if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
    echo "installing into .build/venv-proxies: $(sed -n 's/==.*//p' "$here/requirements.txt" | tr '\n' ' ')"
    mkdir -p "$(dirname "$venv")"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"; }; then
        echo "SKIPPED: these cannot be installed; nothing was tried"
        exit 77
    fi
    cp "$here/requirements.txt" "$venv/installed"
fi
exec "$venv/bin/python" -B "$here/proxies.py" "$gatehouse" "$@"
