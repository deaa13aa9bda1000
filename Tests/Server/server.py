# SPDX-License-Identifier: Apache-2.0
"""The server under test: its configuration, users and process, and a client that signs in."""

import base64
import ctypes
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def bound(cores=None, niceness=0, is_realtime=False):
    """Returns a preexec_fn: the child process stays on its cores, and is killed when this process ends.

    `is_realtime` gives it priority over all other processes and requires root.
    """
    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if cores:
            os.sched_setaffinity(0, cores)
        if niceness:
            os.nice(niceness)
        if is_realtime:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return prepare


PREFERRED = os.environ.get("GATEHOUSE_PREFER") == "1"


def prefer(process="self"):
    """Gives the session of a process priority over other sessions. The order of its own threads stays the same.

    Only with GATEHOUSE_PREFER=1, and as root. The scheduler divides a core between sessions first (sched(7), autogroup).
    """
    if PREFERRED:
        with open(f"/proc/{process}/autogroup", "w") as file:
            file.write("-15")


class Folder:
    """A folder with a realms.conf, in which programs run. It is removed after the `with` block."""

    def __init__(self, program, configuration, name):
        self.program = os.path.abspath(program)
        self.folder = tempfile.TemporaryDirectory(prefix=f"gatehouse-{name}-")
        self.path = self.folder.name
        self.file = os.path.join(self.path, "realms.conf")
        with open(self.file, "w") as out:
            out.write(configuration)

    def command(self, *words):
        return [self.program, *words, "--config", self.file]

    def run(self, *words, typed=""):
        """Runs `gatehouse WORDS`. Returns its status and output."""
        result = subprocess.run(self.command(*words), input=typed, text=True, capture_output=True, preexec_fn=bound())
        return result.returncode, result.stdout + result.stderr

    def must(self, *words, typed=""):
        status, said = self.run(*words, typed=typed)
        if status != 0:
            sys.exit(f"gatehouse {' '.join(words)}: status {status}: {said}")
        return said

    def add(self, name, password, *words):
        self.must("user", "add", name, "--password-stdin", *words, typed=password + "\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


class Server:
    """A running server in a folder, in its own process group. It is ended after the `with` block."""

    def __init__(self, folder, cores=None, is_realtime=False):
        self.log_name = os.path.join(folder.path, "log")
        # The output goes to a file, because a pipe without a reader would fill.
        with open(self.log_name, "w") as log:
            self.process = subprocess.Popen(folder.command("serve"), stdout=log, stderr=subprocess.STDOUT,
                                            start_new_session=True, preexec_fn=bound(cores, is_realtime=is_realtime))
        try:
            prefer(self.process.pid)
            self.port = self._await_port()
        except BaseException:
            self.kill()
            raise

    def _await_port(self):
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"^listening on https://127\.0\.0\.1:(\d+)", self.log, re.MULTILINE)
            if found:
                return int(found.group(1))
            time.sleep(0.02)
        raise SystemExit(f"the server did not start to listen:\n{self.log}")

    @property
    def log(self):
        with open(self.log_name, errors="replace") as file:
            return file.read()

    def status(self, *fields):
        """Returns numbers of /proc/PID/status: Threads, VmRSS and VmHWM in KiB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            text = file.read()
        return [int(re.search(rf"^{field}:\s+(\d+)", text, re.MULTILINE).group(1)) for field in fields]

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ended = self.process.poll()
        if ended is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                pass
        self.kill()
        if ended is not None:
            raise SystemExit(f"the server has ended unexpectedly, status {ended}:\n{self.log}")


def tls_context():
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # These tests do not verify the certificate.
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    return made


TLS = tls_context()


def request(name, password, path="/welcome"):
    credentials = base64.b64encode(f"{name}:{password}".encode()).decode()
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n\r\n".encode()


class Client:
    """A connection that sends one request after the other."""

    def __init__(self, port, source="127.0.0.1", timeout=60):
        plain = socket.create_connection(("127.0.0.1", port), timeout, source_address=(source, 0))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.tls = TLS.wrap_socket(plain, server_hostname="localhost")

    def ask(self, data):
        """Returns the complete answer as bytes, head and body."""
        self.tls.sendall(data)
        answer = b""
        while True:
            more = self.tls.recv(65536)
            if not more:
                raise ConnectionError(f"the connection was closed: {answer[:80]!r}")
            answer += more
            end = answer.find(b"\r\n\r\n")
            if end < 0:
                continue
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", answer[:end + 2])
            if len(answer) >= end + 4 + (int(length.group(1)) if length else 0):
                return answer

    def close(self):
        self.tls.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def status_of(answer):
    return int(answer[9:12])


def sign_in(port, name, password, source="127.0.0.1", path="/welcome"):
    """Returns the status of a login over a new connection, and its seconds including the connection."""
    began = time.monotonic()
    with Client(port, source) as client:
        return status_of(client.ask(request(name, password, path))), time.monotonic() - began


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]
