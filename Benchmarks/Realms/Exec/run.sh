#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares logins through ExecRealm with a C program that starts or asks the same helper program.
# $1: the program realm-benchmarks.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cc -O2 -o "$folder/helper" "$here/helper.c"
cc -O2 -pthread -o "$folder/client" "$here/client.c"
for at_once in 1 4; do
    "$1" client "exec once" ExecRealm "${LOGINS:-2000}" "${ROUNDS:-9}" "$at_once" 1 0 "$folder/client" once "$folder/helper" -- \
        "program=$folder/helper" "processes=$at_once"
    "$1" client "exec lines" ExecRealm "${LINE_LOGINS:-20000}" "${ROUNDS:-9}" "$at_once" 1 0 "$folder/client" lines "$folder/helper" -- \
        "program=$folder/helper" "processes=$at_once" mode=lines requests-per-process=1000000
done
