#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares logins through PAMRealm with a C program that calls libpam and finds the user's groups in a loop, with the same private
# service.
# $1: the program realm-benchmarks. HELPER: gatehouse-pam-helper, by default built here.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
cd "$here/../../.."
if [ -z "${HELPER:-}" ]; then
    Scripts/build.sh -c release --product gatehouse-pam-helper
    HELPER="$(Scripts/build.sh -c release --show-bin-path)/gatehouse-pam-helper"
fi
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
printf 'auth required pam_permit.so\naccount required pam_permit.so\n' >"$folder/gatehouse"
printf 'auth required pam_deny.so\naccount required pam_deny.so\n' >"$folder/other"
cc -O2 -o "$folder/client" "$here/client.c" -lpam
for at_once in 1 4; do
    "$1" client "pam" PAMRealm "${LOGINS:-10000}" "${ROUNDS:-9}" "$at_once" 1 0 "$folder/client" "$folder" -- \
        "confdir=$folder" "helper=$HELPER" "helpers=$at_once"
done
