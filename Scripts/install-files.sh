#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the programs, pages, completions and the files of systemd; `make install` calls it:
#   install-files.sh PROGRAMS DESTDIR PREFIX UNITDIR ZSH_COMPLETIONS CONFIGURATION_FOLDER STATE_FOLDER
#   install-files.sh --remove DESTDIR PREFIX UNITDIR ZSH_COMPLETIONS
# A configuration that exists is not changed. No user is made and no service is started: the last lines say how. Removing leaves the
# configuration, the state and the user.
set -eu
cd "$(dirname "$0")/.."
umask 022

programs=$1 destination=$2 prefix=$3 units=$4 zsh=$5
share=$prefix/share
helper=$prefix/libexec/gatehouse/gatehouse-pam-helper

# Lists the files as SOURCE MODE TARGET. Files of packaging that end with .in have names of folders in them.
files() {
    echo "$programs/gatehouse 755 $prefix/bin/gatehouse"
    echo "$programs/authcheck 755 $prefix/bin/authcheck"
    echo "$programs/gatehouse-pam-helper 755 $helper"
    for page in packaging/man/*; do echo "$page 644 $share/man/man${page##*.}/${page##*/}"; done
    for command in gatehouse authcheck; do
        echo "packaging/completions/bash/$command 644 $share/bash-completion/completions/$command"
        echo "packaging/completions/zsh/_$command 644 $zsh/_$command"
        echo "packaging/completions/fish/$command.fish 644 $share/fish/vendor_completions.d/$command.fish"
    done
    echo "packaging/systemd/gatehouse.service.in 644 $units/gatehouse.service"
    echo "packaging/systemd/gatehouse.socket 644 $units/gatehouse.socket"
    echo "packaging/sysusers.d/gatehouse.conf 644 $prefix/lib/sysusers.d/gatehouse.conf"
    echo "packaging/tmpfiles.d/gatehouse.conf 644 $prefix/lib/tmpfiles.d/gatehouse.conf"
    for file in README.md CHANGELOG.md SECURITY.md LICENSE $(find docs -type f | sort); do
        echo "$file 644 $share/doc/gatehouse/$file"
    done
}

if [ "$programs" = --remove ]; then
    files | while read -r _ _ target; do rm -f "$destination$target"; done
    for folder in "$prefix/libexec/gatehouse" "$share/doc/gatehouse"; do
        [ ! -d "$destination$folder" ] || find "$destination$folder" -depth -type d -empty -delete
    done
    exit 0
fi

configuration=$6 state=$7
put() {
    mkdir -p "$(dirname "$destination$3")"
    case $1 in
    *.in)
        sed -e "s#@bindir@#$prefix/bin#g" -e "s#@sysconfdir@#$(dirname "$configuration")#g" -e "s#@statedir@#$state#g" "$1" \
            >"$destination$3"
        chmod "$2" "$destination$3"
        ;;
    *) install -m "$2" "$1" "$destination$3" ;;
    esac
}

files | while read -r source mode target; do put "$source" "$mode" "$target"; done
[ -e "$destination$configuration/realms.conf" ] || put packaging/realms.conf.in 644 "$configuration/realms.conf"

[ -n "$destination" ] || cat <<END
installed. Next, as root:
    systemd-sysusers $prefix/lib/sysusers.d/gatehouse.conf             # makes the user gatehouse
    systemctl daemon-reload
    systemctl enable --now $units/gatehouse.service    # serves $configuration/realms.conf
END
