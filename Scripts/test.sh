#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
# Runs `swift test` with the given arguments. At the end it lists the failed tests again, because often only the end of a long log
# is kept.
set -uo pipefail

log="$(mktemp)"
trap 'rm -f "$log"' EXIT

swift test "$@" 2>&1 | tee "$log"
status=$?

if [ "$status" -ne 0 ]; then
    echo
    echo "== Failed tests (exit status $status)"
    # An issue is one line, then lines that begin with an arrow.
    awk '
        /✘|recorded an issue|Fatal error|^error: / { isKept = 1; line = $0 }
        !/✘|recorded an issue|Fatal error|^error: / { if (isKept && /↳/) line = $0; else isKept = 0 }
        isKept && !seen[line]++ { print substr(line, 1, 1000) }
    ' "$log" | tail -n 200
fi
exit "$status"
