#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
#     run.sh GATEHOUSE [OPTIONS OF browser.py]
#
# Has a Chromium (Debian's, or the one that CHROMIUM names) sign in at the server. Playwright, which drives it, is installed into
# .build/venv the first time; nothing else is. Screenshots are in .build/screenshots afterwards.
#
# Status: 0, all has passed; 1, something has not; 77, there is no browser or no Playwright, and nothing was tried.
set -eu

gatehouse=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
build=$(realpath "$here/../..")/.build
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$chromium" ]; then
    echo "SKIPPED: there is no chromium (apt-get install chromium); nothing was tried"
    exit 77
fi
if ! "$build/venv/bin/python" -c 'import playwright' 2>/dev/null; then
    echo "installing Playwright into .build/venv"
    mkdir -p "$build"
    if ! { python3 -m venv "$build/venv" && "$build/venv/bin/pip" install --quiet playwright==1.65.2; }; then
        echo "SKIPPED: Playwright cannot be installed; nothing was tried"
        exit 77
    fi
fi
mkdir -p "$build/screenshots"
exec "$build/venv/bin/python" -B "$here/browser.py" "$gatehouse" --chromium "$chromium" --screenshots "$build/screenshots" "$@"
