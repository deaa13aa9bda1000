#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The lane `LDAP`: logins through an LDAPRealm, compared with a C program that calls libldap: a search for the user's entry, a bind as the
# user, and in the second pass a search for the groups, over connections that are kept open. Both ask the same slapd, without TLS and
# with it, one login at a time and eight at once.
# $1: the program realm-benchmarks. LOGINS (3000) and ROUNDS (7) for each measurement, USERS (5000) of the directory.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
program="$1"
PATH="$PATH:/usr/sbin"
for tool in slapd slapadd ldapsearch openssl python3 cc; do
    command -v "$tool" >/dev/null || { echo "LDAP: skipped, $tool is not installed"; exit 0; }
done
folder="$(mktemp -d)"
slapd=
trap '[ -z "$slapd" ] || { kill "$slapd" && wait "$slapd"; } 2>/dev/null; rm -rf "$folder"' EXIT
if ! cc -O2 -o "$folder/client" "$here/client.c" -lldap -llber -lpthread 2>"$folder/cc.log"; then
    echo "LDAP: skipped, install libldap-dev"
    exit 0
fi
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
ports="$(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets))')"
plain="ldap://127.0.0.1:${ports% *}"
tls="ldaps://127.0.0.1:${ports#* }"
sed -e "s#FOLDER#$folder#g" "$here/slapd.conf" >"$folder/slapd.conf"
users="${USERS:-5000}"
mkdir "$folder/data"
python3 "$here/entries.py" "$users" | slapadd -q -f "$folder/slapd.conf" 2>"$folder/slapadd.log" ||
    { cat "$folder/slapadd.log"; exit 1; }
slapd -f "$folder/slapd.conf" -h "$plain $tls" -d 0 2>"$folder/slapd.log" &
slapd=$!
for attempt in $(seq 100); do
    if ldapsearch -x -H "$plain" -s base -b "" >/dev/null 2>&1; then break; fi
    sleep 0.1
done

# The entries of the directory are read into memory before the first measurement.
ldapsearch -x -H "$plain" -D cn=service,dc=example,dc=org -w service -b dc=example,dc=org 1.1 >/dev/null

# $1: 1 to search for the groups, 0 otherwise. $2: the label. The rest: properties.
compare() {
    groups="$1" label="$2"
    shift 2
    for url in "$plain" "$tls"; do
        for at_once in 1 8; do
            "$program" client "$label, ${url%%:*}" LDAPRealm "${LOGINS:-3000}" "${ROUNDS:-7}" "$at_once" "$users" "$groups" \
                "$folder/client" "$url" "$folder/cert.pem" "$users" "$groups" -- \
                "directory=$url" allow-unencrypted=true "ca-file=$folder/cert.pem" base-dn=ou=people,dc=example,dc=org \
                "search-filter=uid=%s" search-bind-dn=cn=service,dc=example,dc=org search-bind-password=service \
                "pool-size=$at_once" "$@"
        done
    done
}
compare 0 "LDAP, search and bind" group-source=none
compare 1 "LDAP, search, bind and groups" group-source=search "group-search-filter=member=%d" \
    group-base-dn=ou=groups,dc=example,dc=org
