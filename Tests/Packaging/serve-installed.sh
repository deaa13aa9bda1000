#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Starts the installed service in a root as systemd would: the command and the user of its unit, a socket for notifications, a watchdog.
# Then fetches the page that the installed configuration protects. test-package.sh calls it in a network namespace of its own.
#   serve-installed.sh ROOT FOLDER
set -eu
cd "$(dirname "$0")"
root=$1 work=$2

fail() {
    echo "serve-installed: $1" >&2
    cat "$work/service.log" >&2
    exit 1
}

rm -f "$work/notifications"

# The loopback interface of a new network namespace is down.
python3 - <<'END'
import fcntl, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
    fcntl.ioctl(end, 0x8914, struct.pack("16sh", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
END

unit=$(find "$root/lib/systemd/system" "$root/usr/lib/systemd/system" -name gatehouse.service 2>/dev/null | head -n 1)
[ -n "$unit" ] || { echo "serve-installed: there is no gatehouse.service" >&2; exit 1; }
setting() { sed -n "s/^$1=//p" "$unit"; }
[ "$(setting Type)" = notify ] || { echo "serve-installed: the unit is not of Type=notify" >&2; exit 1; }
user=$(setting User) group=$(setting Group) command=$(setting ExecStart)

# shellcheck disable=SC2086 # the words of the command
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$(command -v python3)" ./service_manager.py --abstract --watchdog 2000000 \
    --notifications "$work/notifications" -- "$(command -v chroot)" --userspec="$user:$group" "$root" $command \
    >"$work/service.log" 2>&1 &
manager=$!
trap 'kill "$manager" 2>/dev/null || true' EXIT

waits=0
until grep -q " READY=1$" "$work/notifications" 2>/dev/null; do
    kill -0 "$manager" 2>/dev/null || fail "the service has ended"
    waits=$((waits + 1))
    [ "$waits" -lt 600 ] || fail "the service was not ready within 60 seconds"
    sleep 0.1
done
echo "serve-installed: ready after $(sed -n 's/ READY=1$//p' "$work/notifications" | head -n 1) s"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
echo "correct horse battery" | inside runuser -u "$user" -- gatehouse user add ann --password-stdin >>"$work/service.log" 2>&1 ||
    fail "no user can be added"
fetch() {
    curl -q -sS --noproxy '*' --max-time 60 --cacert "$root/var/lib/gatehouse/development-authority.pem" "$@"
}
[ "$(fetch -o /dev/null -w '%{http_code}' https://localhost:8443/welcome)" = 401 ] || fail "the page is not protected"
[ "$(fetch -u 'ann:correct horse battery' https://localhost:8443/welcome)" = "Welcome ann" ] || fail "no page for ann"
[ "$(ps -o user= -p "$(pgrep -P "$manager")")" != root ] || fail "the service runs as root"

sleep 2.5
[ "$(grep -c ' WATCHDOG=1$' "$work/notifications")" -ge 2 ] || fail "the service does not report that it is alive"
kill -HUP "$manager"
waits=0
until [ "$(grep -c ' READY=1$' "$work/notifications")" -ge 2 ]; do
    waits=$((waits + 1))
    [ "$waits" -lt 600 ] || fail "the service was not ready again after a reload"
    sleep 0.1
done
kill -TERM "$manager"
trap - EXIT
status=0
wait "$manager" || status=$?
[ "$status" -eq 0 ] || fail "the service has ended with status $status"
grep -q " STOPPING=1$" "$work/notifications" || fail "the service has not reported its stop"
