# SPDX-License-Identifier: Apache-2.0
"""The server under test: its configuration, its process, and its connections in the kernel's table."""

import os
import re
import subprocess
import tempfile
import time

CONFIGURATION = """
default-realm xtech;
login xtechMyRealm {{ org.xtech.examples.gfloginmodule.MyLoginModule required; }}
realm xtech {{ class StartWithRealm; jaas-context xtechMyRealm; startWith z; }}
server {{
    listen 127.0.0.1:0;
    state state;
    threads 1;
    access-log off;
    credential-cache 30s;
    limits {{ {limits} }}
}}
protect /welcome {{ realm xtech; auth basic; require group User; }}
"""


class Limits:
    """The `limits` block of the server under test, with times in seconds."""

    def __init__(self, handshake=10, header=10, body=10, rate=500, idle=60, write=20, **others):
        self.handshake, self.header, self.body = handshake, header, body
        self.rate, self.idle, self.write = rate, idle, write
        self.others = others

    def __str__(self):
        times = {name: f"{getattr(self, name)}s" for name in ("handshake", "header", "body", "idle", "write")}
        words = [f"{name}-time {value};" for name, value in times.items()] + [f"body-rate {self.rate};"]
        return " ".join(words + [f"{name.replace('_', '-')} {value};" for name, value in self.others.items()])


# For the stalled connections of `latency`: long limits, so that few connections have to be replaced.
LIMITS = Limits(handshake=20, header=20, body=20)


class Gatehouse:
    """A running server; it ends with the `with` block."""

    def __init__(self, program, limits, core=None, may_end=False):
        self.limits, self.may_end = limits, may_end
        self.folder = tempfile.TemporaryDirectory(prefix="gatehouse-stalls-")
        file = os.path.join(self.folder.name, "realms.conf")
        with open(file, "w") as out:
            out.write(CONFIGURATION.format(limits=limits))
        self.log_name = os.path.join(self.folder.name, "log")
        # The output goes to a file, because a pipe without a reader would fill.
        with open(self.log_name, "w") as log:
            self.process = subprocess.Popen(
                [os.path.abspath(program), "serve", "--config", file], stdout=log, stderr=subprocess.STDOUT,
                preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}),
            )
        self.port = self._await_port()

    def _await_port(self):
        for _ in range(100):
            found = re.search(r"^listening on https://127\.0\.0\.1:(\d+)", self.log, re.MULTILINE)
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"stalls: the server did not start to listen:\n{self.log}")

    @property
    def log(self):
        with open(self.log_name, errors="replace") as file:
            return file.read()

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"^VmRSS:\s+(\d+)", file.read(), re.MULTILINE).group(1))

    def held(self):
        return held(self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is not None and not self.may_end:
            raise SystemExit(f"stalls: the server has ended unexpectedly, status {self.process.returncode}:\n{self.log}")
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()


def held(port):
    """Returns the client ports of the connections that the server at `port` has not closed.

    It reads the kernel's table, so it works for clients that read nothing: a closed socket has no inode there.
    """
    ours = f"0100007F:{port:04X}"
    ports = set()
    with open("/proc/net/tcp") as table:
        next(table)
        for line in table:
            words = line.split()
            # State 0A is LISTEN, 06 is TIME_WAIT.
            if words[1] == ours and words[3] not in ("0A", "06") and words[9] != "0":
                ports.add(int(words[2].rpartition(":")[2], 16))
    return ports
