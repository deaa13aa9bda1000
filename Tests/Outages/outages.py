#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the service, the program or the module behind a realm in several ways, and tests that logins in another realm go on.

    outages.py PROGRAM

PROGRAM is the server binary. Environment: GATEHOUSE_OUTAGE_ROUNDS (3), GATEHOUSE_OUTAGE_SECONDS (3, for each state).

One client signs in to a local realm every 5 ms. Other clients sign in to the realm under test at a fixed rate: a RemoteRealm, an
ExecRealm, and a PAMRealm if gatehouse-pam-helper is beside PROGRAM. The states alternate in each round. These are tested in each state:

- Every answer: 200 for the right password if the state is healthy, 401 for a wrong one, and 503 in all other states.
- The log names the cause.
- No attempt counts: a user for whom more wrong passwords are tried than an account may have can sign in afterwards.
- The 99th percentile of the local logins, which is printed with its ratio to the healthy state of the same realm (medians over the
  rounds). It fails only above a bound that no busy machine explains.

Requires Python 3.9, openssl and Linux.
"""

import base64
import contextlib
import hashlib
import multiprocessing
import os
import re
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Server"))

from server import Client, Folder, Server, bound, quantile, request, status_of  # noqa: E402

ROUNDS = int(os.environ.get("GATEHOUSE_OUTAGE_ROUNDS", "3"))
SECONDS = float(os.environ.get("GATEHOUSE_OUTAGE_SECONDS", "3"))
# The states of each realm, with an expression that a line of the log must contain.
REMOTE = {
    "healthy": None,
    "down": "realm remote: .*Connection refused",
    "closing": "realm remote: .*(disconnected|Connection reset|closed)",
    "restarting": "realm remote: .*(Connection refused|disconnected|Connection reset|closed)",
    "hanging": "realm remote: .*(not complete after|no connection after)",
    "slow": "realm remote: .*not complete after",
    "half-closing": "realm remote: .*closed without close_notify",
    "garbage": "realm remote: .*not HTTP/1.1",
    "endless": "realm remote: .*body is longer than",
    "wrong name": "realm remote: .*hostname mismatch",
    "expired": "realm remote: .*certificate has expired",
    "changed key": "realm remote: .*the key sha256//.* is not pinned",
}
# The causes are logged without the access log, too.
EXEC = {
    "healthy": None,
    "crashing": 'realm exec: .*ended by signal 11',
    "hanging": 'realm exec: .*no answer in time',
    "garbage": 'realm exec: .*does not begin with the number',
}
PAM = {
    "healthy": None,
    "crashing": 'realm pam: .*ended by signal 11',
    "hanging": 'realm pam: .*no answer in time',
}
# A local login above this time in milliseconds is a failure.
BOUND_MS = 2000.0
# The failed logins after which an account is locked.
FAILURES = 30
# The rate of logins in the realm under test, and their greatest number at a time.
EACH, AT_ONCE = 0.02, 32

CONFIGURATION = """
login remoteRealm { RemoteLoginModule required; }
login execRealm { ExecLoginModule required; }
login local { ScriptedLoginModule required password="right"; }
realm remote {
    class RemoteRealm; url https://localhost:PORT/check; ca-file ca.pem; pins PIN; timeout 500ms; connect-timeout 500ms;
}
realm exec { class ExecRealm; program helper.sh; mode lines; timeout 500ms; arguments exec-state; }
realm local { class StackRealm; jaas-context local; }
server { listen 127.0.0.1:0; access-log off; credential-cache 0s; throttle { failures FAILURES; source-failures 0; delay 0s; } }
protect /remote { realm remote; auth basic; require any; }
protect /exec { realm exec; auth basic; require any; }
protect /local { realm local; auth basic; require any; }
"""

PAM_CONFIGURATION = """
login pamRealm { PAMLoginModule required; }
realm pam { class PAMRealm; service outages; confdir pam.d; timeout 3s; }
protect /pam { realm pam; auth basic; require any; }
"""

# cmlnaHQ= is right in base64.
HELPER = """#!/bin/sh
while read -r number _ _ password _ <&3; do
    read -r state <"$1"
    case $state in
    crashing) kill -SEGV $$ ;;
    hanging) sleep 1000 ;;
    garbage) echo "perhaps" >&3 ;;
    *) if [ "$password" = cmlnaHQ= ]; then echo "$number authorize"; else echo "$number reject"; fi >&3 ;;
    esac
    echo "$number done" >&3
done
"""

# pam_exec runs it as a child of the helper, with the password on standard input.
MODULE = """#!/bin/sh
read -r state <STATE
case $state in
crashing) kill -SEGV $PPID; sleep 1 ;;
hanging) sleep 1000 ;;
*) [ "$(tr -d '\\0')" = right ] ;;
esac
"""


def make_certificates(folder):
    """Makes an authority, and certificates of the service. Returns the pin of the right key."""
    def openssl(*words):
        return subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder).stdout

    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new_key, "-days", "2", "-subj", "/CN=CA", "-addext", "basicConstraints=critical,CA:TRUE",
            "-keyout", "ca.key", "-out", "ca.pem")
    for key in ("right", "other"):
        openssl("req", *new_key, "-subj", "/CN=localhost", "-keyout", f"{key}.key", "-out", f"{key}.csr")
    certificates = [("healthy", "right", "localhost", "2"), ("wrong name", "right", "other.test", "2"),
                    ("expired", "right", "localhost", "-1"), ("changed key", "other", "localhost", "2")]
    for name, key, host, days in certificates:
        with open(f"{folder}/extensions", "w") as file:
            file.write(f"subjectAltName=DNS:{host}\n")
        openssl("x509", "-req", "-in", f"{key}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", days, "-extfile",
                "extensions", "-out", f"{name}.pem")
        with open(f"{folder}/{key}.key") as source, open(f"{folder}/{name}.pem", "a") as file:
            file.write(source.read())
    key = openssl("pkey", "-in", "right.key", "-pubout", "-outform", "DER")
    return "sha256//" + base64.b64encode(hashlib.sha256(key).digest()).decode()


class Service:
    """The service behind the remote realm, in a process of its own. `state` is an index of REMOTE."""

    def __init__(self, port, folder, state):
        self.port, self.state = port, state
        self.open, self.lock = set(), threading.Lock()
        self.contexts = {}
        for name in ("healthy", "wrong name", "expired", "changed key"):
            self.contexts[name] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.contexts[name].load_cert_chain(f"{folder}/{name}.pem")

    @property
    def name(self):
        return list(REMOTE)[self.state.value]

    def is_down(self):
        return self.name == "down" or self.name == "restarting" and time.monotonic() % 1 < 0.3

    def run(self):
        while True:
            while self.is_down():
                time.sleep(0.01)
            with socket.create_server(("127.0.0.1", self.port), backlog=256) as listener:
                listener.settimeout(0.02)
                while not self.is_down():
                    with contextlib.suppress(socket.timeout):
                        connection, _ = listener.accept()
                        connection.settimeout(10)
                        threading.Thread(target=self.answer, args=(connection,), daemon=True).start()
            # A stopped service has no connections.
            with self.lock:
                for connection in self.open:
                    with contextlib.suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)

    def answer(self, plain):
        with self.lock:
            self.open.add(plain)
        try:
            self.speak(plain)
        except (OSError, ssl.SSLError):
            pass
        finally:
            with self.lock:
                self.open.discard(plain)
            plain.close()

    def speak(self, plain):
        name = self.name
        if name == "hanging":
            time.sleep(5)
            return
        if name == "closing":
            return
        with self.contexts.get(name, self.contexts["healthy"]).wrap_socket(plain, server_side=True) as tls:
            with self.lock:
                # wrap_socket takes the descriptor over.
                self.open.add(tls)
            try:
                while self.respond(tls, name):
                    pass
            finally:
                with self.lock:
                    self.open.discard(tls)

    def respond(self, tls, name):
        """Reads a request and answers it. Returns false at the end of the connection."""
        head = b""
        while b"\r\n\r\n" not in head:
            more = tls.recv(4096)
            if not more:
                return False
            head += more
        if self.name != name and {self.name, name} != {"healthy", "restarting"}:
            # The state has changed since the connection was accepted. A service that restarted keeps its new connections.
            return False
        if name in ("slow", "half-closing", "garbage", "endless"):
            if name == "slow":
                time.sleep(2)
            elif name == "half-closing":
                tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
                tls.shutdown(socket.SHUT_WR)
            elif name == "garbage":
                tls.sendall(os.urandom(64))
            elif name == "endless":
                tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
                for _ in range(64):
                    tls.sendall(b" " * 65536)
            return False
        # ann:right and ben:right in base64
        is_right = b"YW5uOnJpZ2h0" in head or b"YmVuOnJpZ2h0" in head
        tls.sendall(b"HTTP/1.1 " + (b"200 OK" if is_right else b"401 Unauthorized") + b"\r\nContent-Length: 2\r\n\r\n{}")
        return True


def serve(port, folder, state):
    bound()()
    Service(port, folder, state).run()


def measure(port, orders):
    """Runs in a process of its own. For each order, a number of seconds, it signs in every 5 ms and returns the times."""
    bound()()
    data = request("ann", "right", "/local")
    with Client(port) as client:
        while True:
            seconds = orders.recv()
            if seconds is None:
                return
            times, next_at, until = [], time.monotonic(), time.monotonic() + seconds
            while time.monotonic() < until:
                time.sleep(max(0.0, next_at - time.monotonic()))
                next_at = max(next_at + 0.005, time.monotonic())
                began = time.monotonic()
                status = status_of(client.ask(data))
                times.append(time.monotonic() - began)
                if status != 200:
                    raise SystemExit(f"the local realm answered {status}")
            orders.send(times)


def attempt(port, name, password, path):
    """Returns the status of a login over a connection of its own, or the text of an error."""
    try:
        with Client(port) as client:
            return status_of(client.ask(request(name, password, path)))
    except OSError as error:
        return str(error)


def load(port, orders):
    """Runs in a process of its own. For each order, it signs in to a realm, and returns the number of each status."""
    bound()()
    while True:
        order = orders.recv()
        if order is None:
            return
        path, seconds = order
        counts, lock, slots = {}, threading.Lock(), threading.Semaphore(AT_ONCE)

        def ask(password):
            key = (password, attempt(port, "ann", password, path))
            with lock:
                counts[key] = counts.get(key, 0) + 1
            slots.release()

        threads, until, number = [], time.monotonic() + seconds, 0
        while time.monotonic() < until:
            if slots.acquire(timeout=0.01):
                number += 1
                threads.append(threading.Thread(target=ask, args=("wrong" if number % 4 == 0 else "right",)))
                threads[-1].start()
            time.sleep(EACH)
        for thread in threads:
            thread.join()
        orders.send(counts)


class Test:
    """The states of all realms, and their results."""

    def __init__(self, folder, realms):
        self.folder, self.realms = folder, realms
        self.remote = multiprocessing.Value("i", 0)
        self.results, self.failed, self.lines = {}, [], {}

    def set(self, realm, state):
        if realm == "remote":
            self.remote.value = list(REMOTE).index(state)
        else:
            name = f"{self.folder.path}/{realm}-state"
            with open(name + ".new", "w") as file:
                file.write(state + "\n")
            os.rename(name + ".new", name)
        # Connections of the state before end here: the service closes them, or their time is up.
        time.sleep(1.0)

    def fail(self, realm, state, text):
        text = f"{realm}, {state}: {text}"
        if text not in self.failed:
            self.failed.append(text)

    def run(self, server, realm, state, measured, loaded):
        """Measures one state of one realm."""
        log_before = len(server.log)
        self.set(realm, state)
        loaded.send((f"/{realm}", SECONDS))
        measured.send(SECONDS)
        self.results.setdefault((realm, state), []).append(quantile(measured.recv(), 0.99) * 1000)
        counts = loaded.recv()
        expected = {"right": {503}, "wrong": {503}}
        if state in ("healthy", "restarting"):
            expected = {"right": {200}, "wrong": {401}}
        if state == "restarting":
            expected = {password: statuses | {503} for password, statuses in expected.items()}
        for (password, status), count in counts.items():
            if status not in expected[password]:
                self.fail(realm, state, f"{count} logins with the {password} password got {status}")
        if sum(counts.values()) < 10:
            self.fail(realm, state, f"only {sum(counts.values())} logins")
        if state == "healthy":
            return
        if state == "restarting":
            if ("right", 503) not in counts or ("right", 200) not in counts:
                self.fail(realm, state, "the service was not both up and down")
        else:
            self.guess(server, realm, state)
        pattern = re.compile(self.realms[realm][state])
        found = [line for line in server.log[log_before:].splitlines() if pattern.search(line)]
        if found:
            self.lines[realm, state] = found[0]
        else:
            self.fail(realm, state, "no line of the log names the cause: " + server.log[log_before:][:300])
        self.set(realm, "healthy")
        for name in ("ann", "ben"):
            status = attempt(server.port, name, "right", f"/{realm}")
            if status != 200:
                self.fail(realm, state, f"{name} could not sign in afterwards: {status}")

    def guess(self, server, realm, state):
        """Tries more wrong passwords for a user than an account may have."""
        statuses = []

        def ask():
            for _ in range(3):
                statuses.append(attempt(server.port, "ben", "wrong", f"/{realm}"))

        threads = [threading.Thread(target=ask) for _ in range(FAILURES // 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if set(statuses) != {503}:
            self.fail(realm, state, f"wrong passwords got {set(statuses)}")


def prepare(folder, port, has_pam):
    """Writes the files of the realms."""
    def write(name, text, mode):
        with open(f"{folder.path}/{name}", "w") as file:
            file.write(text)
        os.chmod(f"{folder.path}/{name}", mode)

    text = CONFIGURATION.replace("PORT", str(port)).replace("PIN", make_certificates(folder.path))
    text = text.replace("FAILURES", str(FAILURES)).replace("exec-state", f"{folder.path}/exec-state")
    write("helper.sh", HELPER, 0o700)
    write("exec-state", "healthy\n", 0o600)
    if has_pam:
        text += PAM_CONFIGURATION
        write("module.sh", MODULE.replace("STATE", f"{folder.path}/pam-state"), 0o700)
        write("pam-state", "healthy\n", 0o600)
        os.mkdir(f"{folder.path}/pam.d")
        # The code of pam_exec for a wrong password is a system error, which the realm would report as unavailable.
        write("pam.d/outages", f"auth sufficient pam_exec.so quiet expose_authtok {folder.path}/module.sh\n"
                               "auth required pam_deny.so\naccount required pam_permit.so\n", 0o600)
    write("realms.conf", text, 0o600)


def main():
    program = os.path.abspath(sys.argv[1])
    has_pam = os.access(os.path.join(os.path.dirname(program), "gatehouse-pam-helper"), os.X_OK)
    realms = {"remote": REMOTE, "exec": EXEC}
    if has_pam:
        realms["pam"] = PAM
    else:
        print("skipped: PAMRealm, because gatehouse-pam-helper is not beside the program")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        service_port = probe.getsockname()[1]
    with Folder(program, "", "outages") as folder:
        prepare(folder, service_port, has_pam)
        test = Test(folder, realms)
        service = multiprocessing.Process(target=serve, args=(service_port, folder.path, test.remote), daemon=True)
        service.start()
        with Server(folder) as server:
            pipes = []
            for work in (measure, load):
                here, there = multiprocessing.Pipe()
                multiprocessing.Process(target=work, args=(server.port, there), daemon=True).start()
                pipes.append(here)
            states = [(realm, state) for realm in realms for state in realms[realm]]
            for number in range(ROUNDS):
                for index in range(len(states)):
                    test.run(server, *states[(index + number) % len(states)], *pipes)
            for pipe in pipes:
                pipe.send(None)
            log = server.log
        service.kill()
        for secret in ("YW5uOnJ", "YmVuOnJ", "cmlnaHQ"):
            if secret in log:
                test.failed.append(f"the log contains {secret}: " + next(line for line in log.splitlines() if secret in line))
        print(f"{'realm':7} {'state':13} {'p99 of local logins':>20} {'ratio':>6}  log")
        for realm, state in states:
            value = statistics.median(test.results[realm, state])
            ratio = value / statistics.median(test.results[realm, "healthy"])
            print(f"{realm:7} {state:13} {value:17.2f} ms {ratio:6.2f}  {test.lines.get((realm, state), '')}")
            if value > BOUND_MS:
                test.failed.append(f"{realm}, {state}: a local login takes {value:.0f} ms, more than {BOUND_MS:.0f} ms")
        for text in test.failed:
            print(f"FAILED: {text}")
        sys.exit(1 if test.failed else 0)


main()
