#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares the server with other servers, as far as they are installed. docs/performance.md lists the variables that it reads.
# GATEHOUSE_BINARY is the path of a server that is built already. By default it is built as for an installation.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${GATEHOUSE_BINARY:-}" ]; then
    make release
    GATEHOUSE_BINARY="$PWD/.build-release/release/gatehouse"
    export GATEHOUSE_BINARY
fi
exec python3 -B Benchmarks/HTTP/run.py
