#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Logs a user of the system in by the installed PAM service, in a root: pam-login.sh ROOT
set -eu
root=$1
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }

cleanup() {
    inside userdel tester >/dev/null 2>&1 || true
    rm -f "$root/tmp/pam.conf"
}
trap cleanup EXIT
inside useradd --no-create-home tester
echo "tester:thyme and mint" | inside chpasswd
cat >"$root/tmp/pam.conf" <<'END'
login pamRealm { PAMLoginModule required; }
realm system { class PAMRealm; service gatehouse; }
END
echo "thyme and mint" | inside authcheck --config /tmp/pam.conf --password-stdin system tester
! echo "wrong" | inside authcheck --config /tmp/pam.conf --password-stdin system tester >/dev/null
