# SPDX-License-Identifier: Apache-2.0
"""The client in C: it is compiled for the run and controlled by lines of text."""

import json
import os
import shutil
import subprocess

from peers import HERE
from processes import pinned


class ClientError(Exception):
    """The client could not be compiled, or has failed."""


def build(folder):
    """Compiles the client and returns its path."""
    target = os.path.join(folder, "tlsclient")
    if os.path.exists(target):
        return target
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "clang", "gcc")), None)
    if compiler is None:
        raise ClientError("there is no C compiler. Debian: apt-get install gcc libssl-dev")
    result = subprocess.run([*compiler.split(), "-std=gnu11", "-O2", "-o", target,
                             os.path.join(HERE, "client", "tlsclient.c"), "-lssl", "-lcrypto"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise ClientError("the client does not compile (Debian: libssl-dev): "
                          + result.stdout.decode(errors="replace")[-500:])
    return target


class TLSClient:
    """One run of the client. The program ends with the `with` block."""

    def __init__(self, folder, core, *words):
        self.process = subprocess.Popen([build(folder), *map(str, words)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, preexec_fn=pinned(core))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def go(self):
        """Sends the line for which the client waits before it continues."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def line(self):
        text = self.process.stdout.readline().decode()
        if not text:
            raise ClientError("the client has ended without an answer")
        return text.strip()

    def answer(self):
        return json.loads(self.line())
