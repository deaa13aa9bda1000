# SPDX-License-Identifier: Apache-2.0
"""Two directory servers for an LDAPRealm, and the ways in which the first one fails."""

import base64
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from network import Network, free_port
from server import bound


class Slapd:
    """A directory server with all users."""

    BASE = "dc=example,dc=org"
    CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb.so
threads 8
database mdb
suffix "dc=example,dc=org"
directory FOLDER
dbnosync
maxsize 268435456
index objectClass,uid,member eq
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=service,dc=example,dc=org" read by * none
"""

    def __init__(self, folder, name, users, network=None):
        """`users` are the number of users in the group `staff`, and of all."""
        self.network = network
        self.folder = os.path.join(folder, name)
        os.makedirs(os.path.join(self.folder, "data"))
        self.file, self.log = os.path.join(self.folder, "slapd.conf"), os.path.join(self.folder, "log")
        with open(self.file, "w") as file:
            file.write(self.CONFIGURATION.replace("FOLDER", os.path.join(self.folder, "data")))
        subprocess.run(["slapadd", "-q", "-f", self.file], input=self.entries(users), text=True, check=True,
                       stderr=subprocess.DEVNULL)
        self.address = (network.OTHER if network else "127.0.0.1", free_port())
        self.url = f"ldap://{self.address[0]}:{self.address[1]}"
        self.process = None
        self.start()

    @classmethod
    def entries(cls, users):
        def hashed(password):
            return "{SSHA}" + base64.b64encode(hashlib.sha1(password + b"saltsalt").digest() + b"saltsalt").decode()

        lines = [f"dn: {cls.BASE}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Town\n",
                 f"dn: cn=service,{cls.BASE}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\n"
                 f"cn: service\nuserPassword: {hashed(b'service')}\n"]
        right = hashed(b"right")
        lines += [f"dn: uid=user{number},{cls.BASE}\nobjectClass: inetOrgPerson\nuid: user{number}\ncn: User\nsn: User\n"
                  f"userPassword: {right}\n" for number in range(users[1])]
        members = "".join(f"member: uid=user{number},{cls.BASE}\n" for number in range(users[0]))
        return "\n".join([*lines, f"dn: cn=staff,{cls.BASE}\nobjectClass: groupOfNames\ncn: staff\n{members}"])

    def start(self):
        """Starts the server, and waits until it accepts connections."""
        with open(self.log, "a") as log:
            # Level 256 logs the operations.
            command = [*(self.network.enter if self.network else []), shutil.which("slapd"), "-f", self.file, "-h", self.url,
                       "-d", "256"]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=bound())
        for _ in range(1000):
            try:
                socket.create_connection(self.address, 1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise SystemExit("slapd does not start")

    @property
    def logins(self):
        """The number of binds of users."""
        with open(self.log, errors="replace") as file:
            return len(re.findall(r' BIND dn="uid=[^"]*" method', file.read()))

    def kill(self):
        self.process.kill()
        self.process.wait()


class Directories:
    """The lane of LDAPRealm: two directory servers, and the ways in which the first one fails."""

    name = "LDAPRealm"

    def __init__(self, folder, users, pool, limit):
        self.users, self.pool, self.limit = users, pool, limit
        self.states = {"healthy": (lambda: None, lambda: None), "killed": (self.kill, self.start),
                       "stopped": (self.stop, self.resume)}
        self.network = None
        reason = Network.unavailable()
        if reason:
            print(f"skipped: dropped packets, because {reason}")
        else:
            self.network = Network()
            self.states["black-holed"] = (lambda: self.network.drop(True), lambda: self.network.drop(False))
        self.servers = [Slapd(folder, "first", users, self.network), Slapd(folder, "second", users)]

    @staticmethod
    def unavailable():
        os.environ["PATH"] += ":/usr/sbin"
        return None if shutil.which("slapd") else "slapd is not installed"

    @property
    def configuration(self):
        first, second = self.servers
        return f"""
login users {{ LDAPLoginModule required; }}
realm users {{
    class LDAPRealm; jaas-context users; directory {first.url} {second.url}; allow-unencrypted true; base-dn {Slapd.BASE};
    search-filter uid=%s; search-bind-dn "cn=service,{Slapd.BASE}"; search-bind-password service; group-search-filter member=%d;
    pool-size {self.pool}; connect-timeout {self.limit:g}s; bind-timeout {self.limit:g}s; search-timeout {self.limit:g}s; timeout 12s;
}}
protect /users {{ realm users; auth basic; require group staff; }}
"""

    def kill(self):
        self.servers[0].kill()

    def start(self):
        self.servers[0].start()

    def stop(self):
        self.servers[0].process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.servers[0].process.send_signal(signal.SIGCONT)

    def close(self):
        for server in self.servers:
            server.kill()
        if self.network:
            self.network.close()
