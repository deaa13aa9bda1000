#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Boots systemd as the first process of a root in which the packages are installed, in namespaces of its own, and tests the service and the
# socket with it: start, reload, restart, watchdog, credentials, socket activation, upgrade, purge. test-package.sh calls it.
#   booted-systemd.sh ROOT FOLDER DEB
# Status: 0 passed, 1 failed, 77 if systemd cannot be booted on this machine.
set -euo pipefail
root=$(realpath "$1") work=$(realpath "$2") package=$(realpath "$3")

fail() {
    echo "booted-systemd: $*" >&2
    [ ! -s "$work/boot.log" ] || tail -n 20 "$work/boot.log" >&2
    [ -z "${first:-}" ] || inside journalctl -u gatehouse --no-pager -n 40 >&2 || true
    exit 1
}
skip() {
    echo "booted-systemd: SKIPPED: $*"
    exit 77
}

cp "$package" "$root/root/gatehouse.deb"
cat >"$work/boot.sh" <<'END'
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=755 tmpfs "$1/run"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for name in null zero full random urandom tty; do
    touch "$1/dev/$name"
    mount --bind "/dev/$name" "$1/dev/$name"
done
mkdir "$1/dev/pts" "$1/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
ln -s pts/ptmx "$1/dev/ptmx"
ln -s /proc/self/fd "$1/dev/fd"
mount -t tmpfs tmpfs "$1/dev/shm"
mount -t sysfs -o ro sysfs "$1/sys"
mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
cd "$1"
mkdir -p old
pivot_root . old
umount -l /old
rmdir /old
umount -l /proc
mount -t proc proc /proc
# As systemd itself does outside of containers; LoadCredential needs it.
mount --make-rshared /
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=console --show-status=no
END
unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child=KILL bash "$work/boot.sh" "$root" </dev/null >"$work/boot.log" 2>&1 &
boot=$!
trap 'kill -KILL "$boot" ${application:-} 2>/dev/null || true; wait "$boot" 2>/dev/null || true' EXIT

# The first process of the namespace, which becomes systemd.
waits=0
until first=$(pgrep -P "$boot") && grep -qs systemd "/proc/$first/comm"; do
    kill -0 "$boot" 2>/dev/null || skip "systemd cannot be booted here: $(tail -n 1 "$work/boot.log")"
    waits=$((waits + 1))
    [ "$waits" -lt 100 ] || skip "systemd has not started within 10 seconds"
    sleep 0.1
done
inside() { nsenter -t "$first" -m -u -i -n -p -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
# curl of this machine, in the network of the root.
page() { nsenter -t "$first" -n -- curl -q -sk --noproxy '*' --max-time 20 -o /dev/null -w '%{http_code}' "$@" || true; }
property() { inside systemctl show -P "$1" "${2:-gatehouse.service}"; }
# Waits at most 20 seconds until a command succeeds.
until_true() {
    local waits=0
    until "$@"; do
        waits=$((waits + 1))
        [ "$waits" -lt 100 ] || return 1
        sleep 0.2
    done
}
is_active() { [ "$(property ActiveState "${1:-gatehouse.service}")" = active ]; }
has_restarts() { [ "$(property NRestarts)" = "$1" ] && is_active; }
serves() { [ "$(page "https://127.0.0.1:$1/welcome")" = 401 ]; }
# The digest of the certificate that is served.
certificate() {
    nsenter -t "$first" -n -- openssl s_client -connect 127.0.0.1:8443 </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256
}

until_true is_active || {
    ! grep -qi "freezing execution" "$work/boot.log" || skip "systemd cannot be booted here: $(tail -n 1 "$work/boot.log")"
    fail "the service has not started with the system"
}
serves 8443 || fail "the page is not served"
[ "$(property StatusText)" = "listening on https://127.0.0.1:8443" ] || fail "the status is $(property StatusText)"
pid=$(property MainPID)
status() { sed -n "s/^$1:\t//p" "/proc/$(pgrep --ns "$first" --nslist pid -x gatehouse | head -n 1)/status"; }
[ "$(status NoNewPrivs)" = 1 ] && [ "$(status Seccomp)" = 2 ] && [ "$(status CapEff)" = 0000000000000000 ] || fail "the service has rights"
exposure=$(inside systemd-analyze security gatehouse --no-pager 2>/dev/null | sed -n 's/.*exposure level.*: \([0-9.]*\).*/\1/p')
awk -v value="$exposure" 'BEGIN { exit !(value != "" && value <= 2.0) }' || fail "the exposure is '$exposure'"
echo "booted-systemd: started with the system; exposure $exposure"

# The section "Behind a proxy" of docs/install.md.
if inside test -x /usr/sbin/nginx; then
    cp "$root/etc/gatehouse/realms.conf" "$work/realms.conf"
    inside sh -c 'cd /root && gatehouse init --protect / --users new --proxy nginx --host app.example.com --application 127.0.0.1:3000 \
        --folder gatehouse-files --state /var/lib/gatehouse && install -m 644 gatehouse-files/realms.conf /etc/gatehouse/realms.conf &&
        gatehouse check' >"$work/init.log" 2>&1 || fail "gatehouse init: $(cat "$work/init.log")"
    inside systemctl restart gatehouse || fail "the service does not start with the configuration of gatehouse init"
    echo "correct horse battery" | inside runuser -u gatehouse -- gatehouse user add ann --password-stdin >>"$work/init.log" 2>&1 ||
        fail "no user can be added: $(cat "$work/init.log")"
    sed -n 's/^      \(.*install -D .*\)/\1/p' "$work/init.log" >"$root/root/copies.sh"
    [ "$(wc -l <"$root/root/copies.sh")" = 6 ] || fail "gatehouse init has printed other commands: $(cat "$work/init.log")"
    inside sh -ec 'cd /root && . ./copies.sh' || fail "the files of nginx cannot be copied"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=app.example.com -days 30 \
        -keyout "$root/etc/nginx/app.example.com.key" -out "$root/etc/nginx/app.example.com.pem" 2>/dev/null
    mkdir "$work/application"
    echo "the wiki" >"$work/application/index.html"
    nsenter -t "$first" -n -- python3 -m http.server --directory "$work/application" --bind 127.0.0.1 3000 >"$work/application.log" 2>&1 &
    application=$!
    has_application() { [ "$(page http://127.0.0.1:3000/)" = 200 ]; }
    until_true has_application || fail "the application of the test does not answer: $(cat "$work/application.log")"
    inside nginx -t 2>"$work/nginx.log" || fail "nginx: $(cat "$work/nginx.log")"
    inside systemctl restart nginx || fail "nginx does not start"
    app() { nsenter -t "$first" -n -- curl -q -sk --noproxy '*' --max-time 20 --resolve app.example.com:443:127.0.0.1 "$@" https://app.example.com/; }
    [ "$(app -o /dev/null -w '%{http_code}')" = 401 ] || fail "the page behind nginx is not protected"
    [ "$(app -u 'ann:correct horse battery')" = "the wiki" ] || fail "no page behind nginx: $(app -i -u 'ann:correct horse battery')"
    inside systemctl stop nginx
    kill "$application"
    cp "$work/realms.conf" "$root/etc/gatehouse/realms.conf"
    inside systemctl restart gatehouse
    pid=$(property MainPID)
    echo "booted-systemd: behind nginx, by the commands of docs/install.md"
else
    echo "booted-systemd: SKIPPED: the page behind nginx, because nginx is not installed in the root"
fi

# A reload keeps the process; one with an error too, and says so.
inside systemctl reload gatehouse || fail "a reload has failed"
echo "protect /welcome { require nonsense; }" >>"$root/etc/gatehouse/realms.conf"
inside systemctl reload gatehouse 2>/dev/null || true
[ "$(property MainPID)" = "$pid" ] && serves 8443 || fail "a reload with an error has stopped the service"
# A start with a wrong configuration is not repeated.
! inside systemctl restart gatehouse 2>/dev/null || fail "the service starts with a wrong configuration"
sleep 3
[ "$(property ActiveState)" = failed ] && [ "$(property ExecMainStatus)" = 3 ] || fail "after a wrong configuration: $(inside systemctl status gatehouse)"
sed -i '$d' "$root/etc/gatehouse/realms.conf"
inside systemctl reset-failed gatehouse
inside systemctl start gatehouse || fail "the service does not start again"

# systemd starts a server again that was killed, and one that hangs.
kill -KILL "$(pgrep --ns "$first" --nslist pid -x gatehouse | head -n 1)"
until_true has_restarts 1 || fail "a killed server is not started again"
mkdir -p "$root/etc/systemd/system/gatehouse.service.d"
# The folder /run is not that of this machine.
printf '[Service]\nWatchdogSec=2s\nLoadCredential=key.pem:/root/key.pem\nLoadCredential=certificate.pem:/root/certificate.pem\n' \
    >"$root/etc/systemd/system/gatehouse.service.d/test.conf"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 30 -keyout "$root/root/key.pem" \
    -out "$root/root/certificate.pem" 2>/dev/null
chmod 600 "$root/root/key.pem"
cp "$root/etc/gatehouse/realms.conf" "$work/realms.conf"
sed -i 's#^server {#server { tls { certificate "${env:CREDENTIALS_DIRECTORY}/certificate.pem"; key "${env:CREDENTIALS_DIRECTORY}/key.pem"; }#' \
    "$root/etc/gatehouse/realms.conf"
inside systemctl daemon-reload
inside systemctl restart gatehouse || fail "the service does not start with credentials"
[ "$(certificate)" = "$(openssl x509 -noout -fingerprint -sha256 -in "$root/root/certificate.pem")" ] || fail "the credential is not served"
sleep 5
has_restarts 0 || fail "the watchdog has ended a server that answers"
kill -STOP "$(pgrep --ns "$first" --nslist pid -x gatehouse | head -n 1)"
until_true has_restarts 1 || fail "the watchdog has not ended a server that hangs"
echo "booted-systemd: reload, restart, watchdog, credentials"

# A socket of systemd: connections wait during a restart, and an upgrade leaves it alone.
cp "$work/realms.conf" "$root/etc/gatehouse/realms.conf"
rm -r "$root/etc/systemd/system/gatehouse.service.d"
inside systemctl daemon-reload
inside systemctl stop gatehouse
inside systemctl enable --now gatehouse.socket 2>/dev/null || fail "the socket cannot be started"
serves 443 || fail "the first connection does not start the service"
[ "$(property StatusText)" = "listening on https://[::]:443" ] || fail "the status is $(property StatusText)"
# A connection whose handshake is not complete when the server stops is closed. None is refused, which is status 7 of curl.
inside systemctl restart gatehouse &
restart=$!
answered=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
    status=0
    nsenter -t "$first" -n -- curl -q -sk --noproxy '*' --max-time 20 -o /dev/null https://127.0.0.1:443/welcome || status=$?
    [ "$status" != 7 ] || fail "a connection during a restart is refused"
    [ "$status" != 0 ] || answered=$((answered + 1))
done
wait "$restart" || fail "the service does not start again on its socket"
[ "$answered" -ge 8 ] || fail "of 10 connections during a restart, $answered were answered"
inside dpkg -i /root/gatehouse.deb >"$work/upgrade.log" 2>&1 || fail "the upgrade has failed: $(cat "$work/upgrade.log")"
is_active gatehouse.socket || fail "an upgrade has stopped the socket"
until_true serves 443 || fail "after an upgrade the page is not served on the socket"
echo "booted-systemd: socket, upgrade"

inside journalctl -u gatehouse --no-pager >"$work/journal.log" && [ -s "$work/journal.log" ] || fail "there is no journal"
! grep -i "thread priority" "$work/journal.log" || fail "the journal has messages of the Swift run-time library"
inside dpkg -P gatehouse >"$work/purge.log" 2>&1 || fail "the purge has failed: $(cat "$work/purge.log")"
! inside systemctl is-active --quiet gatehouse.socket gatehouse.service || fail "the units run after the purge"
! pgrep --ns "$first" --nslist pid -x gatehouse >/dev/null || fail "a server runs after the purge"
rm -f "$root/root/gatehouse.deb" "$root/root/key.pem" "$root/root/certificate.pem"
echo "booted-systemd: purged"
