#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures logins through the realms, compared with plain clients that do the same, alternating in one run. Each realm has a lane: a folder
# Benchmarks/Realms/NAME with a run.sh, which gets the path of the program realm-benchmarks. $@: the lanes; all by default.
set -eu
cd "$(dirname "$0")/.."
Scripts/build.sh --package-path Benchmarks -c release --product realm-benchmarks
program="$(Scripts/build.sh --package-path Benchmarks -c release --show-bin-path)/realm-benchmarks"
if [ "$#" -eq 0 ]; then
    for lane in Benchmarks/Realms/*/run.sh; do "$lane" "$program"; done
else
    for lane in "$@"; do Benchmarks/Realms/"$lane"/run.sh "$program"; done
fi
