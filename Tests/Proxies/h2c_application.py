# SPDX-License-Identifier: Apache-2.0
"""An application that accepts h2c (HTTP/2 without TLS, by Upgrade or from the first byte), as hypercorn does by default."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

from proxy_fixture import HERE, bound, free_port


class H2CApplication:
    title = "an application that accepts h2c"

    def __init__(self, folder):
        self.port = free_port()
        self.seen_file = os.path.join(folder, "seen")
        self.log_file = os.path.join(folder, "hypercorn.log")
        open(self.seen_file, "w").close()
        with open(self.log_file, "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-B", "-m", "hypercorn", "--bind", f"127.0.0.1:{self.port}", "asgi_application:app"], cwd=HERE,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=bound(),
                env=os.environ | {"GATEHOUSE_SEEN": self.seen_file})
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.connected().close()
                return
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        with open(self.log_file) as log:
            raise SystemExit(f"hypercorn did not start:\n{log.read()}")

    def connected(self):
        return socket.create_connection(("127.0.0.1", self.port), 5)

    def requests(self):
        """All requests that the application has received."""
        with open(self.seen_file) as file:
            return [json.loads(line) for line in file]

    def forget(self):
        open(self.seen_file, "w").close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
