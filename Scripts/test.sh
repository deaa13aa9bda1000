#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
# Builds the tests, runs `swift test` with the given arguments. At the end it lists the failed tests again, because often only the end of a
# long log is kept.
set -uo pipefail

log="$(mktemp)"
folder=
trap 'rm -rf "$log" "$folder"' EXIT

# The tests write thousands of small files and have each synced, which takes minutes on a busy disk. They go to memory, if there is
# a gigabyte of it and programs can be run from there, as swift does with what it makes of Package.swift. A build has its locks in
# the usual folder, so that it excludes others.
memory=/dev/shm
if [ -z "${TMPDIR:-}" ] && [ -w "$memory" ] && ! grep -q " $memory .*noexec" /proc/mounts &&
    [ "$(df --output=avail "$memory" | tail -n 1)" -gt 1048576 ]; then
    folder="$(mktemp -d "$memory/gatehouse-tests.XXXXXX")"
    # Some tests run programs as another user.
    chmod 755 "$folder"
fi

{ swift build --build-tests && TMPDIR="${folder:-${TMPDIR:-/tmp}}" swift test --skip-build "$@"; } 2>&1 | tee "$log"
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
