#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A helper program for ExecRealm in Python: checks passwords against a JSON file.

    realm staff {
        class      ExecRealm;
        program    users_file.py;
        arguments  /etc/gatehouse/users.json;
        mode       lines;                 # or: once
    }

The file: {"ann": {"salt": "00ff", "pbkdf2": "9a2f", "groups": ["staff"]}}, where pbkdf2 is PBKDF2 with SHA-256 and 100000 rounds in
hexadecimal.
"""

import base64
import getopt
import hashlib
import hmac
import json
import socket
import sys

ROUNDS = 100_000


def answer(path, user, password):
    """Returns the lines of the answer."""
    try:
        with open(path, encoding="utf-8") as file:
            users = json.load(file)
    except (OSError, ValueError) as error:
        # The time to say so: this is no wrong password.
        return [f"unavailable {path}: {type(error).__name__}"]
    entry = users.get(user)
    # An unknown user costs a hash, too.
    salt = bytes.fromhex(entry["salt"]) if entry else b"none"
    computed = hashlib.pbkdf2_hmac("sha256", password, salt, ROUNDS)
    if entry is None:
        return ["unknown-user"]
    if entry.get("locked"):
        return ["locked"]
    if not hmac.compare_digest(computed.hex(), entry["pbkdf2"]):
        return ["reject"]
    return [f"group {group}" for group in entry["groups"]] + ["authorize"]


def main():
    path = sys.argv[1]
    options, users = getopt.getopt(sys.argv[2:], "s:v:")
    service = dict(options).get("-s")
    channel = socket.socket(fileno=3)
    with channel.makefile("rb") as requests:
        if service == "lines":
            # One line for each request: number, service, user, password, challenge, address, realm, all but the number in base64.
            for request in requests:
                fields = request.split()
                number = fields[0].decode()
                user, password = (b"" if field == b"-" else base64.b64decode(field) for field in fields[2:4])
                lines = answer(path, user.decode(), password) + ["done"]
                channel.sendall("".join(f"{number} {line}\n" for line in lines).encode())
        elif service == "response":
            # The challenge and the password, each with a NUL at its end.
            _, password, _ = requests.read().split(b"\0")
            channel.sendall("".join(f"{line}\n" for line in answer(path, users[0], password)).encode())
        else:
            sys.exit("usage: users_file.py FILE -s response|lines [-v NAME=VALUE]... [-- USER]")


if __name__ == "__main__":
    main()
