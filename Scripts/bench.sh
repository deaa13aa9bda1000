#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the engine and the parser, and those of the JDK in the same run if java and javac are installed. $1: rounds (5).
set -eu
cd "$(dirname "$0")/.."
Scripts/build.sh --package-path Benchmarks -c release --product Benchmarks
exec "$(Scripts/build.sh --package-path Benchmarks -c release --show-bin-path)/Benchmarks" "${1:-5}"
