#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The lane `remote`: logins through a RemoteRealm, compared with libcurl sending the same requests to the same nginx over connections that
# are kept open. $1: the program realm-benchmarks. ROUNDS (7) and LOGINS (2000) for each measurement.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
program="$1"
for tool in nginx openssl cc; do
    command -v "$tool" >/dev/null || { echo "remote: skipped, $tool is not installed"; exit 0; }
done
folder="$(mktemp -d)"
nginx=
trap '[ -z "$nginx" ] || kill "$nginx" 2>/dev/null; rm -rf "$folder"' EXIT
if ! cc -O2 -o "$folder/curlclient" "$here/curlclient.c" -lcurl -lpthread 2>"$folder/cc.log"; then
    echo "remote: skipped, install libcurl4-openssl-dev"
    exit 0
fi
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
sed -e "s#FOLDER#$folder#g" -e "s#PORT#$port#g" "$here/nginx.conf" >"$folder/nginx.conf"
nginx -c "$folder/nginx.conf" -p "$folder" 2>"$folder/start.log" &
nginx=$!
for attempt in $(seq 100); do
    if openssl s_client -connect "127.0.0.1:$port" </dev/null >/dev/null 2>&1; then break; fi
    sleep 0.1
done

"$program" remote "https://localhost:$port/check" "$folder/cert.pem" "$folder/curlclient" "${LOGINS:-2000}" "${ROUNDS:-7}"
