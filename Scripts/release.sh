#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the three programs for an installation in a build folder: Scripts/release.sh FOLDER
# The Swift run-time library is linked statically: a machine without Swift can run them, and they start faster.
set -eu
cd "$(dirname "$0")/.."
for product in gatehouse authcheck gatehouse-pam-helper; do
    Scripts/build.sh -c release --scratch-path "$1" --static-swift-stdlib --product "$product" \
        -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
done
