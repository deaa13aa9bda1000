#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages of a folder in a clean root of Debian 12, starts the service as the installed unit says, fetches the page
# that is protected, purges the packages, and compares the files before and after. The packages of Debian come from the mirror that apt
# uses on this machine. Needs root. Takes one minute, and one to five more for the clean root.
#   Tests/Packaging/test-package.sh FOLDER
# GATEHOUSE_DEBIAN_ROOT is a tar file with a clean root, to save that time: it is made if there is none.
set -euo pipefail
packages=$(realpath "$1")
cd "$(dirname "$0")"

arch=$(dpkg --print-architecture)
version=$(../../Scripts/version.sh)
server=$packages/gatehouse_${version}_$arch.deb
pam=$packages/gatehouse-realms-pam_${version}_$arch.deb
begin=$SECONDS

say() { echo "test-package: $* ($((SECONDS - begin)) s)"; }
fail() {
    echo "test-package: $*" >&2
    exit 1
}
skip() {
    echo "test-package: SKIPPED: $*"
    exit 0
}

for package in "$server" "$pam"; do [ -f "$package" ] || fail "$package is missing; run make package first"; done
! command -v lintian >/dev/null || lintian --allow-root --fail-on error,warning "$server" "$pam" || fail "lintian has found errors"
[ "$(id -u)" -eq 0 ] || skip "this test needs root, to make a root of Debian and to change to it"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
mirror=$(apt-get indextargets --format '$(REPO_URI)|$(CODENAME)|$(ORIGIN)' 'Created-By: Packages' |
    sed -n 's/^\(.*\)|bookworm|Debian$/\1/p' | head -n 1)
[ -n "$mirror" ] || skip "apt on this machine has no mirror of Debian 12 (bookworm)"

# The root is in memory where two gigabytes of it are free: dpkg writes many small files, each synced.
memory=/dev/shm
[ -w "$memory" ] && ! grep -q " $memory .*\(noexec\|nosuid\|nodev\)" /proc/mounts &&
    [ "$(df --output=avail "$memory" | tail -n 1)" -gt 2097152 ] || memory=${TMPDIR:-/tmp}
work=$(mktemp -d "$memory/gatehouse-package.XXXXXX")
root=$work/root
chmod 755 "$work"
cleanup() {
    for place in "$root/proc" "$root/dev"; do ! mountpoint -q "$place" || umount -l "$place"; done
    rm -rf "$work"
}
trap cleanup EXIT

saved=${GATEHOUSE_DEBIAN_ROOT:-}
if [ -n "$saved" ] && [ -f "$saved" ]; then
    mkdir "$root"
    tar -C "$root" -xpf "$saved"
else
    debootstrap --variant=minbase bookworm "$root" "$mirror" >"$work/debootstrap.log" 2>&1 ||
        skip "debootstrap cannot make a root here: $(tail -n 1 "$work/debootstrap.log")"
    ! mountpoint -q "$root/proc" || umount "$root/proc"
    [ -z "$saved" ] || tar -C "$root" -cpf "$saved" .
fi
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
! grep -q '[^[:space:]]' /etc/hosts || cp /etc/hosts "$root/etc/hosts"
# As in the images of containers: no service is started by its package.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
say "a clean root of Debian 12"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8 "$@"; }
apt() { inside apt-get -q -y --no-install-recommends "$@" >"$work/apt.log" 2>&1 || fail "apt-get $*: $(cat "$work/apt.log")"; }

# The files of the root with their kinds, owners and modes, and the accounts; not what every run of apt writes, nor the copies that the
# tools for accounts make before each change.
state() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./run -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \
        -o -path ./var/lib/dpkg/updates -o -path ./tmp/packages \) -prune -o -printf '%y %m %U:%G %p %l\n' |
        grep -v -E ' \./(var/lib/dpkg/(.*-old|lock.*|triggers/.*|available)|etc/(passwd|group|shadow|gshadow|subuid|subgid)-|etc/\.pwd\.lock) ' |
        sort)
    sed 's/^/passwd: /' "$root/etc/passwd"
    sed 's/^/group: /' "$root/etc/group"
    inside dpkg-query -W -f '${Package} ${Status}\n' | sed 's/^/package: /'
}

# Installs, tests and purges. $1 names the case.
round() {
    state >"$work/before"
    mkdir -p "$root/tmp/packages"
    cp "$server" "$pam" "$root/tmp/packages"
    apt install "/tmp/packages/${server##*/}"
    say "$1: installed gatehouse"
    inside test -d /var/lib/gatehouse || fail "there is no /var/lib/gatehouse"
    [ "$(inside stat -c '%U:%G %a' /var/lib/gatehouse)" = "gatehouse:gatehouse 700" ] || fail "/var/lib/gatehouse has other rights"
    [ "$(inside ldd /usr/bin/gatehouse | grep -c 'not found')" = 0 ] || fail "a library is missing: $(inside ldd /usr/bin/gatehouse)"
    inside gatehouse --version | grep -q "^gatehouse $version (commit " || fail "gatehouse --version: $(inside gatehouse --version)"
    inside authcheck --version >/dev/null || fail "authcheck --version"
    inside gatehouse check >"$work/check.log" 2>&1 || fail "gatehouse check: $(cat "$work/check.log")"
    # The network namespace keeps the port of the configuration free.
    unshare --net ./serve-installed.sh "$root" "$work" || fail "$1: the service has failed"
    say "$1: served"
    apt install "/tmp/packages/${pam##*/}"
    [ "$(inside /usr/libexec/gatehouse/gatehouse-pam-helper --version)" = "$(inside gatehouse --version | sed -n '1s/gatehouse/gatehouse-pam-helper/p')" ] ||
        fail "the helper for PAM has another version"
    ./pam-login.sh "$root" || fail "$1: a login by PAM has failed"
    say "$1: a login by PAM"
    # A socket that an administrator has enabled goes with the package.
    ! inside test -e /bin/systemctl || inside systemctl enable gatehouse.socket >"$work/enable.log" 2>&1 ||
        fail "$1: the socket cannot be enabled: $(cat "$work/enable.log")"
    # An upgrade to the same version keeps the configuration and the state.
    echo "# changed by the administrator" >>"$root/etc/gatehouse/realms.conf"
    users=$(inside runuser -u gatehouse -- gatehouse user list)
    apt install --reinstall -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "/tmp/packages/${server##*/}"
    grep -q "changed by the administrator" "$root/etc/gatehouse/realms.conf" || fail "an upgrade has replaced realms.conf"
    [ "$(inside runuser -u gatehouse -- gatehouse user list)" = "$users" ] || fail "an upgrade has changed the users"
    # Removing keeps the configuration and the state; purging does not.
    apt remove gatehouse gatehouse-realms-pam
    [ -e "$root/etc/gatehouse/realms.conf" ] && [ -d "$root/var/lib/gatehouse" ] || fail "removing has removed configuration or state"
    apt purge --auto-remove gatehouse gatehouse-realms-pam
    rm -rf "$root/tmp/packages"
    state >"$work/after"
    diff "$work/before" "$work/after" >"$work/left" || fail "$1: after the purge, the root differs:
$(cat "$work/left")"
    say "$1: purged, and nothing is left"
}

apt update
round "without systemd"
apt install systemd
round "with the package systemd"
# The last round is that of a machine which boots: without policy-rc.d the packages start the service.
mkdir -p "$root/tmp/packages"
cp "$server" "$root/tmp/packages"
apt install "/tmp/packages/${server##*/}" nginx-light
rm -r "$root/usr/sbin/policy-rc.d" "$root/tmp/packages"
status=0
./booted-systemd.sh "$root" "$work" "$server" || status=$?
case $status in
0) say "with systemd as the first process" ;;
77) ;;
*) fail "the service has failed under systemd" ;;
esac
say "passed"
