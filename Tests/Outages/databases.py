# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server and its standby for an SQLRealm, and the ways in which the first one fails."""

import base64
import glob
import hashlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import time

from network import Network, free_port
from server import bound


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


class PostgreSQL:
    """A database server; its files are in a folder of its own."""

    SETTINGS = """
listen_addresses = '*'
fsync = off
max_connections = 100
wal_level = replica
hot_standby = on
ssl = on
ssl_cert_file = 'server.pem'
ssl_key_file = 'server.key'
logging_collector = off
"""
    ACCESS = "local all all trust\nlocal replication all trust\nhost replication all samenet trust\nhost all all samenet scram-sha-256\n"
    HOSTS = ("127.0.0.1", Network.OTHER)

    def __init__(self, programs, folder, network=None, primary=None):
        """Makes the primary server, or the standby server of `primary`."""
        self.programs, self.folder, self.network = programs, folder, network
        self.host, self.port = (network.OTHER if network else "127.0.0.1"), free_port()
        self.account = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        os.mkdir(folder)
        if self.account:
            shutil.chown(folder, "postgres", "postgres")
        self.data = os.path.join(folder, "data")
        if primary:
            self.command("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-h", primary.folder, "-p",
                         str(primary.port), "-U", "postgres", "--no-sync")
        else:
            self.command("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "--no-sync")
            self.certify()
        for name, text in (("postgresql.conf", f"{self.SETTINGS}port = {self.port}\nunix_socket_directories = '{folder}'\n"),
                           ("pg_hba.conf", self.ACCESS)):
            with open(os.path.join(self.data, name), "w") as file:
                file.write(text)
        self.process = None
        self.start()

    def certify(self):
        """Makes the certificate of both servers."""
        names = ",".join(f"IP:{host}" for host in self.HOSTS)
        subprocess.run([*self.account, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=server", "-addext", f"subjectAltName={names}", "-keyout",
                        f"{self.data}/server.key", "-out", f"{self.data}/server.pem"], check=True, stderr=subprocess.DEVNULL)

    def command(self, name, *words, typed=None):
        result = subprocess.run([*self.account, os.path.join(self.programs, name), *words], input=typed, text=True,
                                capture_output=True, cwd="/")
        if result.returncode != 0:
            raise SystemExit(f"{name}: {result.stderr}")
        return result.stdout.strip()

    def sql(self, text, database="people"):
        return self.command("psql", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", database, "-v",
                            "ON_ERROR_STOP=1", "-qAt", typed=text)

    def start(self):
        """Starts the server, and waits until it answers."""
        with open(os.path.join(self.folder, "log"), "a") as log:
            # setpriv clears the signal that ends a child with this process, so it is set again.
            prepare = ["setpriv", "--pdeathsig", "KILL", *self.account[1:]]
            self.process = subprocess.Popen([*(self.network.enter if self.network else []), *prepare,
                                             os.path.join(self.programs, "postgres"), "-D", self.data],
                                            stdout=log, stderr=log, cwd="/", preexec_fn=bound())
        for _ in range(600):
            ready = subprocess.run([os.path.join(self.programs, "pg_isready"), "-q", "-h", self.folder, "-p", str(self.port)])
            if ready.returncode == 0:
                return
            time.sleep(0.05)
        raise SystemExit("PostgreSQL does not start")

    def signal(self, number):
        for pid in [*children(self.process.pid), self.process.pid]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                # A process of a connection has ended meanwhile.
                pass

    @property
    def logins(self):
        """The number of look-ups of users; each process of the server reports its own once a second."""
        return int(self.sql("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'users_pkey'"))

    def kill(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.process.wait()
        # The next start would refuse to use the lock file of a process that may still run.
        if os.path.exists(f"{self.data}/postmaster.pid"):
            os.remove(f"{self.data}/postmaster.pid")


class Databases:
    """The lane of SQLRealm: a primary server and its standby, and the ways in which the first one fails."""

    name = "SQLRealm"

    def __init__(self, folder, users, pool, limit):
        self.pool, self.limit = pool, limit
        programs = self.programs()
        # The account postgres must reach the folders of the servers.
        os.chmod(folder, 0o711)
        self.states = {"healthy": (lambda: None, lambda: None), "stopped": (self.stop, self.resume)}
        self.network = None
        reason = Network.unavailable()
        if reason:
            print(f"skipped: dropped packets, because {reason}")
        else:
            self.network = Network()
            self.states["black-holed"] = (lambda: self.network.drop(True), lambda: self.network.drop(False))
        # The last state: the standby is promoted, and the old primary server comes back as its standby.
        self.states["killed and promoted"] = (self.promote, self.rejoin)
        self.servers = [PostgreSQL(programs, os.path.join(folder, "first"), self.network)]
        shutil.copy(f"{self.servers[0].data}/server.pem", f"{folder}/ca.pem")
        self.fill(users)
        self.servers.append(PostgreSQL(programs, os.path.join(folder, "second"), primary=self.servers[0]))

    @staticmethod
    def programs():
        return next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), None)

    @staticmethod
    def unavailable():
        if not Databases.programs():
            return "postgresql is not installed"
        if os.geteuid() == 0 and "postgres" not in [entry.pw_name for entry in pwd.getpwall()]:
            return "PostgreSQL does not run as root, and there is no user postgres"
        return None

    def fill(self, users):
        digest = base64.b64encode(hashlib.sha1(b"rightsaltsalt").digest() + b"saltsalt").decode()
        self.servers[0].sql("CREATE DATABASE people", "postgres")
        self.servers[0].sql(f"""
            CREATE ROLE realm LOGIN PASSWORD 'realm';
            CREATE TABLE users (name text PRIMARY KEY, password text NOT NULL);
            CREATE TABLE memberships (name text, grp text);
            INSERT INTO users SELECT 'user' || number, '{{SSHA}}{digest}' FROM generate_series(0, {users[1] - 1}) number;
            INSERT INTO memberships SELECT 'user' || number, 'staff' FROM generate_series(0, {users[0] - 1}) number;
            CREATE INDEX ON memberships (name);
            GRANT SELECT ON users, memberships TO realm;
            ANALYZE;""")

    @property
    def configuration(self):
        first, second = self.servers
        return f"""
login users {{ SQLLoginModule required; }}
realm users {{
    class SQLRealm; jaas-context users; db-user realm; db-password realm;
    database "postgresql://{first.host}:{first.port},{second.host}:{second.port}/people"; ca-file ca.pem;
    user-table users; user-name-column name; password-column password; group-table memberships; group-name-column grp;
    connections {self.pool}; connect-timeout {self.limit:g}s; query-timeout {self.limit:g}s; timeout 12s;
}}
protect /users {{ realm users; auth basic; require group staff; }}
"""

    def stop(self):
        self.servers[0].signal(signal.SIGSTOP)

    def resume(self):
        self.servers[0].signal(signal.SIGCONT)

    def promote(self):
        self.servers[0].kill()
        self.servers[1].sql("SELECT pg_promote(true, 60)", "postgres")

    def rejoin(self):
        """Copies the promoted server to the old one, which then follows it."""
        old, new = self.servers
        shutil.rmtree(old.data)
        old.command("pg_basebackup", "-D", old.data, "-R", "-X", "stream", "-c", "fast", "-h", new.folder, "-p", str(new.port),
                    "-U", "postgres", "--no-sync")
        settings = f"{old.SETTINGS}port = {old.port}\nunix_socket_directories = '{old.folder}'\n"
        with open(os.path.join(old.data, "postgresql.conf"), "w") as file:
            file.write(settings)
        old.start()

    def close(self):
        for server in self.servers:
            server.kill()
        if self.network:
            self.network.close()
