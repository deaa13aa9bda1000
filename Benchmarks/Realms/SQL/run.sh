#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The lane `SQL`: logins through an SQLRealm with PostgreSQL, compared with a C program that runs the same two prepared statements with
# libpq and checks the same hash, {SSHA}, over connections that are kept open. Both ask the same server, without TLS and with it, one
# login at a time and eight at once.
# $1: the program realm-benchmarks. LOGINS (3000) and ROUNDS (7) for each measurement, USERS (5000) of the table.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
program="$1"
# shellcheck disable=SC2012 # The newest version, by name.
programs="$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)"
for tool in "${programs:-/missing}/initdb" openssl python3 cc setpriv; do
    command -v "$tool" >/dev/null || { echo "SQL: skipped, $tool is not installed"; exit 0; }
done
folder="$(mktemp -d)"
server=
trap '[ -z "$server" ] || { kill -INT "$server" && wait "$server"; } 2>/dev/null; rm -rf "$folder"' EXIT
if ! cc -O2 -I"$(pg_config --includedir 2>/dev/null || echo /usr/include/postgresql)" -o "$folder/client" "$here/client.c" \
    -lpq -lcrypto -lpthread 2>"$folder/cc.log"; then
    echo "SQL: skipped, install libpq-dev and libssl-dev"
    exit 0
fi
# PostgreSQL does not run as root.
as=
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    chown postgres "$folder"
fi
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
cd /
$as "$programs/initdb" -D "$folder/data" -U postgres -A trust --locale=C -E UTF8 --no-sync >/dev/null
$as openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$folder/data/server.key" -out "$folder/data/server.crt" 2>/dev/null
cp "$folder/data/server.crt" "$folder/ca.pem"
cat >>"$folder/data/postgresql.conf" <<END
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$folder'
ssl = on
fsync = off
END
$as "$programs/postgres" -D "$folder/data" 2>"$folder/log" &
server=$!
for attempt in $(seq 100); do
    if "$programs/pg_isready" -q -h "$folder" -p "$port"; then break; fi
    sleep 0.1
done
users="${USERS:-5000}"
hash="$(python3 -c '
import base64, hashlib
print("{SSHA}" + base64.b64encode(hashlib.sha1(b"lilacsaltsalt").digest() + b"saltsalt").decode())')"
$as "$programs/psql" -q -h "$folder" -p "$port" -U postgres -v ON_ERROR_STOP=1 >/dev/null <<END
CREATE TABLE users (name text PRIMARY KEY, password text NOT NULL);
CREATE TABLE memberships (name text, grp text);
INSERT INTO users SELECT CASE number WHEN 0 THEN 'ann' ELSE 'user' || number END, '$hash' FROM generate_series(0, $users - 1) number;
INSERT INTO memberships SELECT name, 'staff' FROM users;
INSERT INTO memberships SELECT name, 'users' FROM users;
CREATE INDEX ON memberships (name);
VACUUM ANALYZE;
END

for mode in "sslmode=disable" "sslmode=verify-full"; do
    own="host=127.0.0.1 port=$port dbname=postgres"
    [ "$mode" = sslmode=verify-full ] || own="$own $mode"
    for at_once in 1 8; do
        "$program" client "SQL, $mode" SQLRealm "${LOGINS:-3000}" "${ROUNDS:-7}" "$at_once" "$users" 2 "$folder/client" \
            "host=127.0.0.1 port=$port dbname=postgres user=postgres $mode sslrootcert=$folder/ca.pem" "$users" -- \
            "database=$own" db-user=postgres "ca-file=$folder/ca.pem" user-table=users user-name-column=name \
            password-column=password group-table=memberships group-name-column=grp "connections=$at_once"
    done
done
