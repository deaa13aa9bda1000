#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     run.sh GATEHOUSE [OPTIONS OF browser.py]
#
# Signs in at the server with Chromium: Debian's, or the program in CHROMIUM. Playwright, which controls the browser, and axe, which checks the
# pages, are installed into .build/venv if they are missing; nothing else is installed. Screenshots are in .build/screenshots afterwards.
#
# Status: 0 if all tests have passed, 1 if a test has failed, 77 if there is no Chromium or no Playwright.
set -eu

gatehouse=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
build=$(realpath "$here/../..")/.build
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$chromium" ]; then
    echo "SKIPPED: there is no chromium (apt-get install chromium); no test ran"
    exit 77
fi
if ! "$build/venv/bin/python" -c 'import playwright, axe_playwright_python' 2>/dev/null; then
    echo "installing Playwright and axe into .build/venv"
    mkdir -p "$build"
    if ! { python3 -m venv "$build/venv" &&
        "$build/venv/bin/pip" install --quiet playwright==1.65.2 axe-playwright-python==0.1.8; }; then
        echo "SKIPPED: Playwright or axe cannot be installed; no test ran"
        exit 77
    fi
fi
mkdir -p "$build/screenshots"
exec "$build/venv/bin/python" -B "$here/browser.py" "$gatehouse" --chromium "$chromium" --screenshots "$build/screenshots" "$@"
