#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
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
# Without -f, a group * would become the names of all files.
set -uf
# ${#...} counts bytes.
LC_ALL=C
export LC_ALL
file=$1
shift

# Prints the answer for user $1 and password $2; each line begins with $3. What fails is an outage, and never a decision:
# a wrong password counts against the user.
answer() {
    users=$(cat "$file") || {
        printf '%sunavailable the file of users cannot be read\n' "$3"
        return
    }
    found=
    while IFS= read -r line; do
        case $line in "$1:"*) found=$line ;; esac
    done <<EOF
$users
EOF
    # A name with a colon would match the beginning of another line. An unknown user costs a hash, too.
    case $1 in *:*) found= ;; esac
    rest=${found#*:}
    hash=${rest%%:*}
    groups=${rest#*:}
    salt=${hash#\$6\$}
    salt=${salt%%\$*}
    # printf is a part of the shell, so no process has the password among its arguments.
    computed=$(printf '%s\n' "$2" | openssl passwd -6 -salt "${salt:-none}" -stdin) && [ -n "$computed" ] || {
        printf '%sunavailable openssl has failed\n' "$3"
        return
    }
    case $2 in *"
"*) computed= ;; esac
    # openssl reads the first 256 bytes only.
    [ "${#2}" -le 256 ] || computed=
    if [ -z "$found" ]; then
        printf '%sunknown-user\n' "$3"
    elif [ "$computed" != "$hash" ] || [ -z "$hash" ]; then
        printf '%sreject\n' "$3"
    else
        IFS=,
        for group in $groups; do printf '%sgroup %s\n' "$3" "$group"; done
        unset IFS
        printf '%sauthorize\n' "$3"
    fi
}

# Prints a field of a request; fails if it cannot be decoded. The dot keeps newlines at the end, which $(...) would remove.
field() {
    { [ "$1" = - ] || printf %s "$1" | base64 -d; } && printf .
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
        if user=$(field "$user") && password=$(field "$password"); then
            answer "${user%.}" "${password%.}" "$number "
        else
            echo "$number unavailable the request cannot be decoded"
        fi >&3
        echo "$number done" >&3
    done
    ;;
response)
    # Descriptor 3 has the challenge and the password, each with a NUL at its end.
    tr '\0' '\n' <&3 | {
        if ! { IFS= read -r _ && IFS= read -r password; }; then
            echo unavailable the request is not complete
        elif IFS= read -r _; then
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
