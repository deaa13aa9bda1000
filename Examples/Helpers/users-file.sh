#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
#
# A helper program for ExecRealm in shell: checks passwords against a file with a line NAME:HASH:GROUP,GROUP for each
# user. A hash is made with: openssl passwd -6
#
#     realm staff {
#         class      ExecRealm;
#         program    users-file.sh;
#         arguments  /etc/gatehouse/users;
#         mode       lines;                 # or: once
#     }
set -u
# ${#...} counts bytes.
LC_ALL=C
export LC_ALL
file=$1
shift

# Prints the answer for user $1 and password $2; each line begins with $3.
answer() {
    found=
    while IFS= read -r line; do
        case $line in "$1:"*) found=$line ;; esac
    done <"$file"
    # A name with a colon would match the beginning of another line. An unknown user costs a hash, too.
    case $1 in *:*) found= ;; esac
    rest=${found#*:}
    hash=${rest%%:*}
    groups=${rest#*:}
    salt=${hash#\$6\$}
    salt=${salt%%\$*}
    # printf is a part of the shell, so no process has the password among its arguments.
    computed=$(printf '%s\n' "$2" | openssl passwd -6 -salt "${salt:-none}" -stdin)
    case $2 in *"
"*) computed= ;; esac
    # openssl reads the first 256 bytes only.
    [ "${#2}" -le 256 ] || computed=
    if [ -z "$found" ]; then
        echo "$3unknown-user"
    elif [ -z "$computed" ] || [ "$computed" != "$hash" ]; then
        echo "$3reject"
    else
        IFS=,
        for group in $groups; do echo "$3group $group"; done
        unset IFS
        echo "$3authorize"
    fi
}

# Prints a field of a request. The dot keeps newlines at the end, which $(...) would remove.
field() {
    [ "$1" = - ] || printf %s "$1" | base64 -d
    printf .
}

service=
while getopts s:v: option; do
    [ "$option" != s ] || service=$OPTARG
done
shift $((OPTIND - 1))

case $service in
lines)
    # One line for each request: number, service, user, password, challenge, address, realm, all but the number in base64.
    while read -r number _ user password _ <&3; do
        user=$(field "$user")
        password=$(field "$password")
        answer "${user%.}" "${password%.}" "$number " >&3
        echo "$number done" >&3
    done
    ;;
response)
    # Descriptor 3 has the challenge and the password, each with a NUL at its end.
    tr '\0' '\n' <&3 | {
        IFS= read -r _
        IFS= read -r password
        if IFS= read -r _; then
            echo reject # a password with a line break
        else
            answer "$1" "$password" ""
        fi
    } >&3
    ;;
*)
    echo "usage: users-file.sh FILE -s response|lines [-v NAME=VALUE]... [-- USER]" >&2
    exit 1
    ;;
esac
