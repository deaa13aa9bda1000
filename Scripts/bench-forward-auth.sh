#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
#     bench-forward-auth.sh [GATEHOUSE]
#
# Measures what a question of nginx's auth_request costs: to a gatehouse that looks at a live session, and to an nginx that says 204 to
# everything. Benchmarks/ForwardAuth/run.py says which variables it listens to.
set -eu
cd "$(dirname "$0")/.."

gatehouse=${1:-}
if [ -z "$gatehouse" ]; then
    make deps
    swift build -c release --product gatehouse
    gatehouse="$(swift build -c release --show-bin-path)/gatehouse"
fi
exec python3 -B Benchmarks/ForwardAuth/run.py "$gatehouse"
