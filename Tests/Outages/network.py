# SPDX-License-Identifier: Apache-2.0
"""Ports, and networks whose packets can be dropped."""

import os
import shutil
import socket
import subprocess
import time

from server import bound


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Network:
    """A network namespace for one server, whose packets can be dropped. It ends with this process."""

    OWN, OTHER = "198.18.77.1", "198.18.77.2"

    def __init__(self):
        self.process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], preexec_fn=bound())
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.process.pid}/ns/net") == own:
            time.sleep(0.01)
        self.link = f"gh{os.getpid()}"
        try:
            self.run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "inner", "netns", str(self.process.pid))
            self.run("ip", "address", "add", f"{self.OWN}/30", "dev", self.link)
            self.run("ip", "link", "set", self.link, "up")
            self.run(*self.enter, "ip", "address", "add", f"{self.OTHER}/30", "dev", "inner")
            self.run(*self.enter, "ip", "link", "set", "inner", "up")
        except subprocess.CalledProcessError:
            self.close()
            raise

    @staticmethod
    def run(*words):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

    @property
    def enter(self):
        return ["nsenter", f"--target={self.process.pid}", "--net"]

    def drop(self, is_dropped):
        """Drops the packets: the answers have no way, and a packet whose answer has no way is not accepted."""
        self.run(*self.enter, "ip", "route", "add" if is_dropped else "delete", "blackhole", f"{self.OWN}/32")

    def close(self):
        # The link ends with the last process in the namespace.
        self.process.kill()
        self.process.wait()

    @staticmethod
    def unavailable():
        if os.geteuid() != 0:
            return "root is needed to drop packets"
        missing = [tool for tool in ("ip", "nsenter", "unshare") if not shutil.which(tool)]
        return f"{missing[0]} is not installed" if missing else None
