#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
# Builds the tests, runs `swift test` with the given arguments. At the end it lists the failed tests again, because often only the end of a
# long log is kept.
#
# Up to three failed tests run again, each of them five times. If all of these runs pass, the tests are unsteady: they are listed, and the
# exit status is 0 (decision 0045). GATEHOUSE_RERUN=no switches this off.
set -uo pipefail

log="$(mktemp)"
again="$(mktemp)"
folder=
trap 'rm -rf "$log" "$again" "$folder"' EXIT

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

run_tests() { TMPDIR="${folder:-${TMPDIR:-/tmp}}" swift test --skip-build "$@"; }

{ swift build --build-tests && run_tests "$@"; } 2>&1 | tee "$log"
status=$?
[ "$status" -ne 0 ] || exit 0

# An issue is one line, then lines that begin with an arrow.
list_failures() {
    awk '
        /✘|recorded an issue|Fatal error|^error: / { isKept = 1; line = $0 }
        !/✘|recorded an issue|Fatal error|^error: / { if (isKept && /↳/) line = $0; else isKept = 0 }
        isKept && !seen[line]++ { print substr(line, 1, 1000) }
    ' "$1" | tail -n 200
}

# The names of the failed tests as patterns; nothing if the run has not come to its end, for example after a crash.
failed_tests() {
    grep -qE '^✘ Test run with [0-9]+ tests? .*failed after' "$log" || return
    sed -nE 's/^✘ Test "(.*)" (with [0-9]+ test cases )?failed after .*/\1/p; s/^✘ Test ([A-Za-z0-9_]+)\(.*\) (with [0-9]+ test cases )?failed after .*/\1/p' "$log" |
        sort -u | sed -E 's/[][(){}.*+?^$|\\/]/\\&/g'
}

echo
echo "== Failed tests (exit status $status)"
list_failures "$log"

mapfile -t tests < <(failed_tests)
if [ "${GATEHOUSE_RERUN:-yes}" = no ] || [ "${#tests[@]}" -eq 0 ] || [ "${#tests[@]}" -gt 3 ]; then exit "$status"; fi
pattern="$(IFS='|'; echo "${tests[*]}")"
echo
echo "== The failed tests once more, five times"
for _ in 1 2 3 4 5; do
    run_tests --no-parallel --filter "$pattern" >"$again" 2>&1 || { list_failures "$again"; exit "$status"; }
    # A pattern that matches no test must not pass.
    grep -qE "^✔ Test run with [1-9][0-9]* tests? " "$again" || { tail -n 5 "$again"; exit "$status"; }
done
echo
echo "== UNSTEADY: these tests failed once and passed five times. Each is a defect of a test or of the program; find it."
list_failures "$log"
