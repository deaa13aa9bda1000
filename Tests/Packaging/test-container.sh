#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the content of the container image as an engine for containers would, as far as that is possible without one: in a root and a
# network namespace of its own, with the user, the command and the health check of the Containerfile. Needs root.
#   Tests/Packaging/test-container.sh PROGRAMS
set -euo pipefail
programs=$(realpath "$1")
cd "$(dirname "$0")"
file=../../packaging/container/Containerfile

if [ "$(id -u)" -ne 0 ]; then
    echo "test-container: SKIPPED: this test needs root, to change to another root"
    exit 0
fi
if [ -z "${GATEHOUSE_IN_NAMESPACE:-}" ]; then
    GATEHOUSE_IN_NAMESPACE=1 exec unshare --net --mount ./test-container.sh "$programs"
fi

work=$(mktemp -d)
chmod 755 "$work"
root=$work/root
manager=
cleanup() {
    [ -z "$manager" ] || kill "$manager" 2>/dev/null || true
    ! mountpoint -q "$root/proc" || umount -l "$root/proc"
    rm -rf "$work"
}
trap cleanup EXIT
fail() {
    echo "test-container: $*" >&2
    [ ! -f "$work/log" ] || cat "$work/log" >&2
    exit 1
}
instruction() { python3 -c '
import json, re, sys
text = open(sys.argv[1]).read().replace("\\\n", " ")
print("\n".join(json.loads(re.findall(r"^%s.*?(\[.*\])$" % sys.argv[2], text, re.MULTILINE)[-1])))' "$file" "$1"; }

../../packaging/container/rootfs.sh "$programs" "$root"

# The libraries are those that the programs load, and no others.
needed=$(for program in gatehouse authcheck; do ldd "$programs/$program"; done |
    sed -n -e 's/.* => \(\/[^ ]*\) (.*/\1/p' -e 's/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | sort -u)
present=$(cd "$root" && find . -name '*.so*' | sed 's/^\.//' | sort)
[ "$needed" = "$present" ] || fail "other libraries: needed $needed, present $present"
for name in libssl libcrypto libsqlite3 libargon2 libcrypt libc; do
    grep -q "/$name\.so" <<<"$present" || fail "there is no $name"
done
! grep -q -i swift <<<"$present" || fail "the programs need libraries of Swift: they are no build of make release"
[ -z "$(find "$root" -perm /6000)" ] || fail "there are setuid programs"
[ -z "$(find "$root" -name '*sh' -path '*bin/*')" ] || fail "there is a shell"

# Engines mount it. Programs in Swift read their arguments there.
mkdir "$root/proc"
mount -t proc proc "$root/proc"

user=$(sed -n 's/^USER //p' "$file")
case $user in 0* | root* | "") fail "the image runs as root" ;; esac
mapfile -t command < <(instruction ENTRYPOINT && instruction CMD)
mapfile -t check < <(instruction HEALTHCHECK)
python3 - <<'END'
import fcntl, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
    fcntl.ioctl(end, 0x8914, struct.pack("16sh", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
END
inside() { env -i "$(command -v chroot)" --userspec="$user" "$root" "$@"; }

! inside "${check[@]}" >"$work/log" 2>&1 || fail "the health check succeeds without a server"
./service_manager.py --abstract --notifications "$work/notifications" -- "$(command -v env)" -i "$(command -v chroot)" \
    --userspec="$user" "$root" "${command[@]}" >"$work/log" 2>&1 &
manager=$!
healthy=
for _ in $(seq 300); do
    if inside "${check[@]}" >"$work/check" 2>&1; then healthy=1 && break; fi
    kill -0 "$manager" 2>/dev/null || fail "the server has ended"
    sleep 0.1
done
[ -n "$healthy" ] || fail "the server is not healthy: $(cat "$work/check")"
echo "correct horse battery" | inside /usr/bin/gatehouse user add ann --password-stdin >>"$work/log" 2>&1 || fail "no user can be added"
page=$(curl -q -sS --noproxy '*' --max-time 60 --cacert "$root/var/lib/gatehouse/development-authority.pem" \
    -u 'ann:correct horse battery' https://localhost:8443/welcome)
[ "$page" = "Welcome ann" ] || fail "no page for ann: $page"
inside /usr/bin/authcheck --version >/dev/null || fail "authcheck does not run"
kill -TERM "$manager"
status=0
wait "$manager" || status=$?
manager=
[ "$status" -eq 0 ] || fail "the server has ended with status $status"
echo "test-container: passed; $(du -shx "$root" | cut -f 1) in $(find "$root" -xdev -type f | wc -l) files"
