#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the entries of the lane LDAP as LDIF: `ann` and `user1`, `user2` and so on, each in one to three groups.

    entries.py USERS
"""

import base64
import hashlib
import sys

BASE = "dc=example,dc=org"


def hashed(password, salt):
    """Returns a password in the format {SSHA}, which costs little."""
    return "{SSHA}" + base64.b64encode(hashlib.sha1(password + salt).digest() + salt).decode()


def main():
    users = int(sys.argv[1])
    print(f"dn: {BASE}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Town\n")
    for unit in ("people", "groups"):
        print(f"dn: ou={unit},{BASE}\nobjectClass: organizationalUnit\nou: {unit}\n")
    print(f"dn: cn=service,{BASE}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: service\n"
          f"userPassword: {hashed(b'service', b'service.')}\n")
    names = ["ann"] + [f"user{number}" for number in range(1, users)]
    for number, name in enumerate(names):
        print(f"dn: uid={name},ou=people,{BASE}\nobjectClass: inetOrgPerson\nuid: {name}\ncn: {name}\nsn: {name}\n"
              f"displayName: User {number}\nmail: {name}@example.org\n"
              f"userPassword: {hashed(b'lilac', number.to_bytes(8, 'big'))}\n")
    # A group of all users would be a search through one large entry.
    for group in range(max(1, users // 50)):
        members = [name for number, name in enumerate(names) if group in (number // 50, number % 97, number % 211)]
        print(f"dn: cn=group{group},ou=groups,{BASE}\nobjectClass: groupOfNames\ncn: group{group}")
        for name in members:
            print(f"member: uid={name},ou=people,{BASE}")
        print()


main()
