#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares logins with groups in groups with logins without them, over HTTP at a built server.

    nested.py GATEHOUSE [ROUNDS]

GATEHOUSE is a release build with the trait LDAP. A slapd has 100,000 users and 200 groups on each of five levels; the groups of a level
are members of those of the next one. Two realms differ in `nested-groups` only. Each round (300 by default) is one login at each of them,
with the Basic scheme, without credential cache, over one connection to the server and one to slapd. The figures are medians.
Needs slapd and python3.
"""

import base64
import hashlib
import http.client
import os
import pathlib
import re
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

USERS = 100_000
GROUPS = 200
LEVELS = 5
BASE = "dc=example,dc=org"


def groups_of(number):
    """The groups of the first level that a user is in."""
    if number == 0:
        return list(range(GROUPS))
    return sorted({number % GROUPS, number // GROUPS % GROUPS, 7})[:2]


def group(level, number):
    """The distinguished name of a group."""
    return f"cn=large{level}-{number},ou=groups,{BASE}"


def user(number):
    """The distinguished name of a user."""
    return f"uid=user{number},ou=people,{BASE}"


def write_entries(path):
    """Writes all entries as LDIF."""
    hashed = "{SSHA}" + base64.b64encode(hashlib.sha1(b"lilac" + b"saltsalt").digest() + b"saltsalt").decode()
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"dn: {BASE}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Town\n\n")
        for unit in ("people", "groups"):
            file.write(f"dn: ou={unit},{BASE}\nobjectClass: organizationalUnit\nou: {unit}\n\n")
        file.write(f"dn: cn=service,{BASE}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\n"
                   "cn: service\nuserPassword: service\n\n")
        members = [[] for _ in range(GROUPS)]
        for number in range(USERS):
            file.write(f"dn: {user(number)}\nobjectClass: inetOrgPerson\nuid: user{number}\ncn: user{number}\nsn: Example\n"
                       f"userPassword: {hashed}\n\n")
            for index in groups_of(number):
                members[index].append(number)
        for level in range(1, LEVELS + 1):
            for index in range(GROUPS):
                names = [user(number) for number in members[index]] if level == 1 else [group(level - 1, index)]
                file.write(f"dn: {group(level, index)}\nobjectClass: groupOfNames\ncn: large{level}-{index}\n")
                file.writelines(f"member: {name}\n" for name in names)
                file.write("\n")


def free_port():
    """A port of the loopback address that is free."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def start_directory(folder):
    """Starts slapd with the entries, and returns the process and its address."""
    template = (pathlib.Path(__file__).parent / "slapd.conf").read_text(encoding="utf-8")
    lines = [line for line in template.replace("FOLDER", folder).splitlines() if not line.startswith("TLS")]
    text = "\n".join(lines).replace("maxsize 268435456", "maxsize 2147483648") + "\n"
    configuration = f"{folder}/slapd.conf"
    pathlib.Path(configuration).write_text(text, encoding="utf-8")
    os.mkdir(f"{folder}/data")
    write_entries(f"{folder}/entries.ldif")
    subprocess.run(["slapadd", "-q", "-f", configuration, "-l", f"{folder}/entries.ldif"], check=True, capture_output=True)
    port = free_port()
    process = subprocess.Popen(["slapd", "-f", configuration, "-h", f"ldap://127.0.0.1:{port}", "-d", "0"])
    wait_for(port)
    return process, f"ldap://127.0.0.1:{port}"


def wait_for(port, log=None):
    """Waits until a server answers."""
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit(pathlib.Path(log).read_text(encoding="utf-8") if log else f"nothing listens at port {port}")


def start_server(program, folder, directory):
    """Starts gatehouse with the two realms, and returns the process and its port."""
    port = free_port()
    text = f"server {{ listen 127.0.0.1:{port}; state var; credential-cache 0s; }}\n"
    for name, nested in (("flat", "false"), ("nested", "true")):
        text += f"""
login {name} {{ LDAPLoginModule required; }}
realm {name} {{
    class LDAPRealm; jaas-context {name}; directory {directory}; allow-unencrypted true;
    base-dn ou=people,{BASE}; search-filter uid=%s; search-bind-dn cn=service,{BASE}; search-bind-password service;
    group-source search; group-base-dn ou=groups,{BASE}; group-search-filter member=%d; nested-groups {nested};
    pool-size 1; timeout 60s;
}}
protect /{name} {{ realm {name}; auth basic; require any; }}
"""
    path = f"{folder}/realms.conf"
    pathlib.Path(path).write_text(text, encoding="utf-8")
    os.chmod(path, 0o600)
    process = subprocess.Popen(
        [program, "serve", "--config", path], cwd=folder, stdout=subprocess.DEVNULL, stderr=open(f"{folder}/log", "w", encoding="utf-8")
    )
    wait_for(port, f"{folder}/log")
    return process, port


class Client:
    """A client with one connection to the server."""

    def __init__(self, port):
        context = ssl._create_unverified_context()  # pylint: disable=protected-access
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)

    def login(self, realm, number):
        """Signs in, and returns the time in milliseconds."""
        value = base64.b64encode(f"user{number}:lilac".encode()).decode()
        start = time.perf_counter()
        self.connection.request("GET", f"/{realm}", headers={"Authorization": f"Basic {value}"})
        answer = self.connection.getresponse()
        answer.read()
        taken = (time.perf_counter() - start) * 1000
        # The path has no page.
        if answer.status not in (200, 404):
            sys.exit(f"{realm}: user{number} was answered {answer.status}")
        return taken


def main():
    program = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    os.environ["PATH"] += ":/usr/sbin"
    if not shutil.which("slapd"):
        sys.exit("nested: slapd is not installed")
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            slapd, directory = start_directory(folder)
            processes.append(slapd)
            server, port = start_server(program, folder, directory)
            processes.append(server)
            client = Client(port)
            for realm in ("flat", "nested"):
                client.login(realm, 11)
            print(f"{cpu()}; milliseconds, {rounds} rounds")
            print("| groups | flat | nested | ratio | p99, flat and nested | longest, flat and nested | first nested login |")
            for number in (0, 5):
                client.login("flat", number)
                first = client.login("nested", number)
                times = {"flat": [], "nested": []}
                for _ in range(rounds):
                    for realm, list_ in times.items():
                        list_.append(client.login(realm, number))
                median = {realm: statistics.median(list_) for realm, list_ in times.items()}
                late = [statistics.quantiles(list_, n=100)[98] for list_ in times.values()]
                longest = [max(list_) for list_ in times.values()]
                count = len(groups_of(number))
                print(
                    f"| {count}, {count * LEVELS} | {median['flat']:.1f} | {median['nested']:.1f} "
                    f"| {median['nested'] / median['flat']:.2f} | {late[0]:.1f}, {late[1]:.1f} "
                    f"| {longest[0]:.0f}, {longest[1]:.0f} | {first:.0f} |"
                )
            refused = re.findall(r"refused[^\n]*", pathlib.Path(f"{folder}/log").read_text(encoding="utf-8"))
            if refused:
                sys.exit(f"nested: {refused[0]}")
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def cpu():
    """The name of the processor."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0]}, {len(names)} processors" if names else "unknown processor"


main()
