#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Starts the server of the folder $1 on a free port and tests the examples of the README: zed is allowed, bob is denied, a request
# without a user gets 401, authcheck gives the same results, and a signal stops the server.
set -eu

bin=$1
work=$(mktemp -d)
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
fail() {
    echo "smoke: $1" >&2
    cat "$work/log" >&2
    exit 1
}

sed 's/127\.0\.0\.1:8443/127.0.0.1:0/' realms.conf >"$work/realms.conf"
"$bin/gatehouse" check --config "$work/realms.conf" >/dev/null || fail "check rejects the sample configuration"
"$bin/gatehouse" serve --config "$work/realms.conf" >"$work/log" 2>&1 &
server=$!

tries=0
until grep -q '^listening on ' "$work/log"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "the server does not listen"
    kill -0 "$server" 2>/dev/null || fail "the server has ended"
    sleep 0.1
done
url=$(sed -n 's/^listening on //p' "$work/log")
ask() {
    curl -sS --noproxy '*' --max-time 10 --cacert "$work/var/development-authority.pem" "$@"
}

[ "$(ask -u zed:any "$url/welcome")" = "Welcome zed" ] || fail "zed is not allowed"
[ "$(ask -o /dev/null -w '%{http_code}' -u bob:any "$url/welcome")" = 401 ] || fail "bob is not rejected"
[ "$(ask -o /dev/null -w '%{http_code}' "$url/welcome")" = 401 ] || fail "a request without a user does not get 401"
ask -u zed:any -H 'Accept: text/html' "$url/welcome" | grep -q '<h1>Welcome zed</h1>' || fail "no page for browsers"
"$bin/authcheck" --config "$work/realms.conf" --quiet xtech zed || fail "authcheck rejects zed"
if "$bin/authcheck" --config "$work/realms.conf" --quiet xtech bob; then fail "authcheck accepts bob"; fi

kill -TERM "$server"
wait "$server" || fail "the server stopped with an error"
server=""
echo "smoke: the server at $url allowed zed, rejected bob and stopped"
