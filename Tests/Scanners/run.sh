#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     run.sh [--install] GATEHOUSE
#
# Starts the server with its development certificate, with an ECDSA and with an RSA certificate, and scans each with testssl.sh, sslyze
# and tls_protocol.py. With --install, missing scanners are installed: testssl.sh as a Debian package, sslyze into .build/scanners. Scanners
# that are still missing are skipped. Their output stays in .build/scanners.
#
# Status: 0 if no scanner found anything, 1 if a scanner found something, 77 if no scanner ran.
set -eu

install=""
if [ "${1:-}" = --install ]; then
    install=yes
    shift
fi
gatehouse=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
results=$(realpath "$here/../..")/.build/scanners
mkdir -p "$results"
work=$(mktemp -d)
server=""
stop() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || true
    server=""
}
trap 'stop; rm -rf "$work"' EXIT

# The scanners

if [ -n "$install" ]; then
    "$here/../../Scripts/install.sh" openssl testssl.sh bsdextrautils || true
    if [ ! -x "$results/venv/bin/sslyze" ]; then
        python3 -m venv "$results/venv" && "$results/venv/bin/pip" install --quiet sslyze || true
    fi
fi
testssl=$(command -v testssl || command -v testssl.sh || true)
sslyze=$results/venv/bin/sslyze
[ -x "$sslyze" ] || sslyze=$(command -v sslyze || true)
python=$(command -v python3 || true)
openssl=$(command -v openssl || true)
if [ -z "$openssl" ] || [ -z "$python" ]; then
    echo "skipped: openssl and python3 are required; no scanner ran"
    exit 77
fi
[ -n "$testssl" ] || echo "skipped: testssl.sh is not installed (run.sh --install)"
[ -n "$sslyze" ] || echo "skipped: sslyze is not installed (run.sh --install)"

# The server

start() { # NAME [CERTIFICATE KEY]
    mkdir -p "$work/$1"
    cat >"$work/$1/realms.conf" <<CONF
default-realm xtech;
login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
realm xtech { class StartWithRealm; jaas-context xtechMyRealm; startWith z; }
server {
    listen 127.0.0.1:0;
    state state;
    ${2:+tls { certificate "$2"; key "$3"; \}}
}
protect /welcome { realm xtech; auth basic; require group User; }
CONF
    "$gatehouse" serve --config "$work/$1/realms.conf" >"$work/$1/log" 2>&1 &
    server=$!
    tries=0
    until grep -q '^listening on ' "$work/$1/log"; do
        tries=$((tries + 1))
        if [ "$tries" -ge 100 ] || ! kill -0 "$server" 2>/dev/null; then
            echo "run.sh: the server does not listen" >&2
            cat "$work/$1/log" >&2
            exit 1
        fi
        sleep 0.1
    done
    port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/$1/log")
}

passed=0
failed=0
skipped=0
count() { # STATUS
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

scan() { # NAME
    echo "== $1"
    status=0
    "$python" "$here/tls_protocol.py" "$port" || status=$?
    count "$status"
    if [ -n "$sslyze" ]; then
        rm -f "$results/sslyze-$1.json"
        "$sslyze" --mozilla_config=intermediate --json_out "$results/sslyze-$1.json" "127.0.0.1:$port" \
            >"$results/sslyze-$1.txt" 2>&1 || true
        status=0
        "$python" "$here/findings.py" sslyze "$1" "$results/sslyze-$1.json" "$results/sslyze-$1.txt" || status=$?
        count "$status"
    else
        skipped=$((skipped + 1))
    fi
    if [ -n "$testssl" ]; then
        rm -f "$results/testssl-$1.json"
        "$testssl" --warnings off --color 0 --quiet --jsonfile "$results/testssl-$1.json" "127.0.0.1:$port" \
            >"$results/testssl-$1.txt" 2>&1 || true
        status=0
        "$python" "$here/findings.py" testssl "$1" "$results/testssl-$1.json" || status=$?
        count "$status"
    else
        skipped=$((skipped + 1))
    fi
    if kill -0 "$server" 2>/dev/null; then
        echo "ok      the server still runs"
        passed=$((passed + 1))
    else
        echo "FAILED  the server has ended unexpectedly"
        failed=$((failed + 1))
    fi
    stop
}

certificate() { # NAME OPTIONS...
    name=$1
    shift
    openssl req -x509 -nodes -sha256 -days 90 -subj /CN=localhost -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' \
        -keyout "$work/$name.key" -out "$work/$name.pem" "$@" 2>/dev/null
}

certificate ecdsa -newkey ec -pkeyopt ec_paramgen_curve:P-256
certificate rsa -newkey rsa:2048
start development
scan development
start ecdsa "$work/ecdsa.pem" "$work/ecdsa.key"
scan ecdsa
start rsa "$work/rsa.pem" "$work/rsa.key"
scan rsa
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
