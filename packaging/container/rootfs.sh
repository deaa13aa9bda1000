#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the content of the container image from built programs: rootfs.sh PROGRAMS TARGET
# It has the programs, stripped, and the libraries that ldd names. Run it as root: the state folder belongs to the user of the image.
set -eu
programs=$(cd "$1" && pwd) target=$2
cd "$(dirname "$0")/../.."
umask 022
user=65532

mkdir -p "$target/usr/bin" "$target/etc/gatehouse" "$target/etc/ssl/certs" "$target/usr/lib/ssl" "$target/tmp"
chmod 1777 "$target/tmp"
for program in gatehouse authcheck; do
    strip -o "$target/usr/bin/$program" "$programs/$program"
    chmod 755 "$target/usr/bin/$program"
    libraries=$(ldd "$target/usr/bin/$program")
    case $libraries in *"not found"*) echo "$libraries" >&2 && exit 1 ;; esac
    # Lines such as "libssl.so.3 => /lib/libssl.so.3 (0x7f)", and that of the loader, "/lib64/ld-linux-x86-64.so.2 (0x7f)".
    echo "$libraries" | sed -n -e 's/.* => \(\/[^ ]*\) (.*/\1/p' -e 's/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
        mkdir -p "$target$(dirname "$library")"
        cp -L "$library" "$target$library"
    done
done

# The authorities for RemoteRealm, where OpenSSL looks for them.
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
    cp /etc/ssl/certs/ca-certificates.crt "$target/etc/ssl/certs/"
    ln -sf ../../../etc/ssl/certs/ca-certificates.crt "$target/usr/lib/ssl/cert.pem"
fi
echo "gatehouse:x:$user:$user:Gatehouse:/var/lib/gatehouse:/nonexistent" >"$target/etc/passwd"
echo "gatehouse:x:$user:" >"$target/etc/group"
echo "hosts: files dns" >"$target/etc/nsswitch.conf"
# Other containers connect to the address of this one.
sed -e 's#@statedir@#/var/lib/gatehouse#' -e 's#listen  127.0.0.1:8443#listen  0.0.0.0:8443#' packaging/realms.conf.in \
    >"$target/etc/gatehouse/realms.conf"
install -d -m 0700 -o $user -g $user "$target/var/lib/gatehouse"
