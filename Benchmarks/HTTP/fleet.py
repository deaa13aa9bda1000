# SPDX-License-Identifier: Apache-2.0
"""All servers of a run share one core. Only one of them runs at a time; the others are stopped."""

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

from peers import PASSWORD, USER, WELCOME
from processes import Service, wait_until

KEYS = {"ecdsa": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["-newkey", "rsa:2048"]}
AUTHORIZATION = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def say(text):
    """Prints progress to standard error. Only the tables go to standard output."""
    print(f"bench-http: {text}", file=sys.stderr, flush=True)


def make_certificates(folder):
    """Creates one certificate for each kind of key. All servers use the same certificates."""
    for kind, options in KEYS.items():
        subprocess.run(
            ["openssl", "req", "-x509", "-nodes", "-sha256", "-days", "30", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", *options,
             "-keyout", f"{folder}/{kind}.key.pem", "-out", f"{folder}/{kind}.certificate.pem"],
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Client:
    """A TLS 1.3 connection for checks before a sample."""

    def __init__(self, port):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20))
        self.cipher = self.socket.cipher()[0]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def get(self, path, *fields):
        """Sends a GET. Returns the status, the fields (names in lower case) and the body."""
        return self._ask("GET", path, fields)

    def begin_session(self, path, user, password):
        """Signs a user in and returns the session cookie."""
        body = json.dumps({"username": user, "password": password})
        fields = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        status, fields, _ = self._ask("POST", path, fields, body)
        if status != 201:
            raise OSError(f"the sign-in was answered with {status}")
        return fields["set-cookie"].partition(";")[0]

    def _ask(self, method, path, fields, body=""):
        lines = "".join(f"{field}\r\n" for field in fields)
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n{body}".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        fields = {}
        for name, _, value in (line.partition(":") for line in lines[1:]):
            fields.setdefault(name.strip().lower(), value.strip())
        while len(body) < int(fields.get("content-length", 0)):
            body += self._more()
        return int(lines[0].split()[1]), fields, body

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server has closed the connection")
        return data


class Running:
    """A running server."""

    def __init__(self, peer, folder, core, certificates, kind, index):
        self.peer = peer
        self.port = free_port()
        self.folder = folder
        command = peer.prepare(folder, self.port, f"{certificates}/{kind}.certificate.pem",
                               f"{certificates}/{kind}.key.pem", index)
        self.service = Service(command, core, peer.log(folder), peer.environment)

    def wait(self):
        """Waits until the server answers. If it does not, raises a RuntimeError with its output."""
        wait_until(lambda: not self.service.alive() or self._answers(), 60)
        if not self.service.alive() or not self._answers():
            raise RuntimeError(f"{self.peer.name} does not answer:\n{self._said()}")

    def _answers(self):
        try:
            with Client(self.port) as client:
                client.get("/")
            return True
        except OSError:
            return False

    def _said(self):
        text = ""
        for name in ("output.log", "error.log"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, errors="replace") as file:
                    text += file.read()[-2000:]
        return text or "(nothing)"


class Fleet:
    """Starts and ends servers. `folder` has all files of the run."""

    def __init__(self, settings):
        self.settings = settings
        self.folder = tempfile.mkdtemp(prefix="gatehouse-bench-")
        # Worker processes run as another user and read their pages here.
        os.chmod(self.folder, 0o755)
        self.running = []
        self.index = WELCOME

    def __enter__(self):
        try:
            make_certificates(self.folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception):
        # Ignores further signals, so that a second Ctrl-C leaves no servers running.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, peer, kind="ecdsa"):
        """Starts a server and waits until it answers."""
        folder = tempfile.mkdtemp(prefix=f"{peer.name}-", dir=self.folder)
        os.chmod(folder, 0o755)
        running = Running(peer, folder, self.settings.server_core, self.folder, kind, self.index)
        self.running.append(running)
        running.wait()
        return running

    def start_all(self, peers, kind="ecdsa"):
        """Starts all servers and stops them by a signal. A server that does not start is left out, with a message."""
        started = []
        for peer in peers:
            try:
                running = self.start(peer, kind)
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                say(f"{peer.name} is left out: {error}")
                continue
            running.service.pause()
            started.append(running)
        return started

    def stop(self, running=None):
        """Ends one server, or all servers."""
        for one in [running] if running else list(self.running):
            one.service.end()
            self.running.remove(one)

    @contextlib.contextmanager
    def awake(self, running):
        """Lets one server run during the `with` block."""
        running.service.resume()
        try:
            yield running
        finally:
            running.service.pause()
