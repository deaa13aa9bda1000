#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
# Compares the server with other servers, as far as they are installed. docs/performance.md lists the variables that it reads.
# GATEHOUSE_BINARY is the path of a server that is built already.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${GATEHOUSE_BINARY:-}" ]; then
    make deps
    swift build -c release --product gatehouse
    GATEHOUSE_BINARY="$(swift build -c release --show-bin-path)/gatehouse"
    export GATEHOUSE_BINARY
fi
exec python3 -B Benchmarks/HTTP/run.py
