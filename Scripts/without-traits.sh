#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the server without traits, and tests the result: the program contains neither PAMRealm nor LDAPRealm and links none of
# libpam, libldap and libpq, and a configuration that names them or a database of PostgreSQL gets an error with the command that
# builds them in.
#
# The build uses the build folder of this repository, so that the dependencies are not built again. The next build with traits
# builds our own targets again.
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "without-traits: $1" >&2
    exit 1
}

Scripts/build.sh --disable-default-traits --product gatehouse
Scripts/build.sh --disable-default-traits --product gatehouse-pam-helper
bin=$(Scripts/build.sh --disable-default-traits --show-bin-path)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in gatehouse gatehouse-pam-helper; do
    libraries=$(ldd "$bin/$program")
    case $libraries in *libpam*) fail "$program links libpam" ;; esac
    case $libraries in *libldap*) fail "$program links libldap" ;; esac
    case $libraries in *libpq*) fail "$program links libpq" ;; esac
done
# A mangled name contains the name of its module.
! grep -q 8RealmPAM9PAMHelper "$bin/gatehouse" || fail "gatehouse contains PAMRealm"

# check TEXT ...: checks the configuration, which must not load; the error must contain the texts.
check() {
    status=0
    "$bin/gatehouse" check --config "$work/realms.conf" >"$work/output" 2>&1 || status=$?
    [ "$status" -eq 3 ] || fail "check ends with status $status: $(cat "$work/output")"
    for text in "$@"; do
        grep -q -e "$text" "$work/output" || fail "the error does not contain: $text: $(cat "$work/output")"
    done
}

cat >"$work/realms.conf" <<EOF
login pamRealm { PAMLoginModule required; }
realm system { class PAMRealm; service gatehouse; }
server { listen 127.0.0.1:0; }
EOF
check "PAMRealm is not built into this program" "swift build --traits default,PAM" "libpam0g-dev"

cat >"$work/realms.conf" <<EOF
login ldapRealm { LDAPLoginModule required; }
realm people { class LDAPRealm; directory ldap://127.0.0.1; base-dn dc=example,dc=org; }
server { listen 127.0.0.1:0; }
EOF
check "LDAPRealm is not built into this program" "swift build --traits default,LDAP" "libldap-dev"

cat >"$work/realms.conf" <<EOF
login jdbcRealm { SQLLoginModule required; }
realm people {
    class SQLRealm;
    database postgresql://gatehouse@localhost/app;
    user-table users;
    user-name-column name;
    password-column password;
}
server { listen 127.0.0.1:0; }
EOF
check "was built without it" "swift build --traits default,PostgreSQL" "libpq-dev"
echo "without-traits: passed"
