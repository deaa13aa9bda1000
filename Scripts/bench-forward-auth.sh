#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     bench-forward-auth.sh [GATEHOUSE [OTHER]]
#
# Measures the cost of a subrequest of nginx's auth_request: with a gatehouse that finds a session, and with an nginx that
# answers 204 to every request. With OTHER, compares two builds: A is GATEHOUSE, B is OTHER. Benchmarks/ForwardAuth/run.py lists the variables that it reads.
set -eu
cd "$(dirname "$0")/.."

gatehouse=${1:-}
if [ -z "$gatehouse" ]; then
    make deps
    Scripts/build.sh -c release --product gatehouse
    gatehouse="$(Scripts/build.sh -c release --show-bin-path)/gatehouse"
fi
exec python3 -B Benchmarks/ForwardAuth/run.py "$gatehouse" ${2:+"$2"}
