# SPDX-License-Identifier: Apache-2.0
"""The environment of a proxy: certificates, a Gatehouse with two users, and an application that returns each request."""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Server"))

from server import Folder, Server, bound  # noqa: E402, F401

NAME = "app.example.com"
# Another host of the same application, behind the same proxy. Its rule is open.
OPEN_HOST = "www.example.com"
# A second application behind the same proxy, and the sign-in host.
WIKI, SIGN_IN_HOST = "wiki.example.com", "auth.example.com"
PASSWORDS = {"ann": "correct horse battery", "bob": "another long password"}
# A user with letters beyond ASCII, who has a name and a mail address.
ZOE = "a third long password"
GROUPS = {"ann": ["Staff", "Night shift"], "bob": ["Visitors"]}
PREFIX = "/gatehouse"
CONFIGURATION = """
default-realm town;
login storeRealm {{ StoreLoginModule required; }}
login execRealm {{ ExecLoginModule required; }}
realm town {{ class StoreRealm; }}
# A realm that is never available.
realm down {{ class ExecRealm; program /usr/bin/false; }}
passwords {{ hash argon2id memory=8MiB passes=1; }}
server {{
    listen 127.0.0.1:{port};
    state state;
    access-log off;
    trusted-proxies 127.0.0.1;
    cors-preflights app.example.com;
    limits {{ connections 10000; connections-per-address 10000; }}
    sessions {{ idle {idle}; absolute {absolute}; warning 2s; per-user 100; }}
    sign-in {{ prefix /gatehouse; }}
    {tls}
}}
protect app.example.com/        {{ auth form basic; require group Staff; }}
protect app.example.com/shared  {{ auth form basic; require any; }}
protect app.example.com/utf8    {{ auth basic; require any; identity-fields utf-8; }}
protect app.example.com/form    {{ auth form; require any; }}
protect app.example.com/public  {{ open; }}
protect app.example.com/reading {{ methods GET; open; }}
protect app.example.com/down    {{ realm down; auth basic; require any; }}
protect app.example.com/packages         {{ auth form basic; require any; ambiguous-paths allow; }}
protect app.example.com/packages/private {{ auth form basic; require group Staff; ambiguous-paths allow; }}
protect open.example.com/       {{ open; }}
protect www.example.com/        {{ open; }}
protect wiki.example.com/       {{ auth form; require any; }}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def certificate(folder, name, *others):
    """Creates a self-signed certificate for the names. Returns three files: certificate, key, and both together."""
    files = [os.path.join(folder, f"{name}.{end}") for end in ("pem", "key", "both")]
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-sha256", "-days", "3", "-subj", f"/CN={name}", "-addext",
         "subjectAltName=" + ",".join(f"DNS:{each}" for each in (name, *others)), "-newkey", "ec",
         "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", files[1], "-out", files[0]], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    with open(files[2], "wb") as both:
        for file in files[:2]:
            with open(file, "rb") as part:
                shutil.copyfileobj(part, both)
    os.chmod(files[1], 0o644)
    return files


class Gatehouse:
    """The server under test. Its port stays the same when it is stopped and started again."""

    def __init__(self, program):
        self.port = free_port()
        self.folder = Folder(program, self._configuration(), "proxies")
        os.chmod(self.folder.path, 0o755)
        for name, password in PASSWORDS.items():
            self.folder.add(name, password, *(word for group in GROUPS[name] for word in ("--group", group)))
        self.folder.add("zoë", ZOE, "--name", "Zoë Müller, 100%", "--mail", "zoë@example.org", "--group", "Nachtwächter", "--group", "Staff")
        self.server = None

    def _configuration(self, idle="30m", absolute="12h", tls=""):
        return CONFIGURATION.format(port=self.port, idle=idle, absolute=absolute, tls=tls)

    def start(self, has_certificate=False, **times):
        authority, tls = os.path.join(self.folder.path, "state", "development-authority.pem"), ""
        if has_certificate:
            authority, key, _ = certificate(self.folder.path, "localhost")
            tls = f'tls {{ certificate "{authority}"; key "{key}"; }}'
        with open(self.folder.file, "w") as file:
            file.write(self._configuration(tls=tls, **times))
        self.server = Server(self.folder)
        # Worker processes of proxies run as another user and read the file here.
        shutil.copy(authority, self.authority)

    @property
    def authority(self):
        return os.path.join(self.folder.path, "gatehouse-ca.pem")

    def stop(self):
        if self.server is not None:
            self.server.__exit__()
            self.server = None

    def end_sessions(self, name):
        status, said = self.folder.run("sessions", "end", "--user", name)
        if status != 0:
            raise AssertionError(f"gatehouse sessions end --user {name}: status {status}: {said}")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.__exit__()


class Application:
    """An application that answers every request with the request as JSON, and keeps all requests.

    The status is 200, or the value of `status` at the end of the query.
    """

    title = "an application that returns its requests"

    def __init__(self, port=0):
        self.wanted_port = port
        self.targets = []
        self.requests = []
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self.thread.start()
        started.wait()

    def _run(self, started):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", self.wanted_port, backlog=4096))
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()

    async def _serve(self, reader, writer):
        try:
            while True:
                first = await reader.readexactly(1)
                if first == b"\x16":
                    # A TLS handshake, which an HTTP server without TLS answers with 400.
                    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    return
                head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ", 2)
                fields = [[name, value.strip()] for name, _, value in (line.partition(":") for line in head[1:-2])]
                named = {name.lower(): value for name, value in fields}
                if named.get("transfer-encoding", "").lower() == "chunked":
                    trailers = await self._trailers(reader)
                else:
                    await reader.readexactly(int(named.get("content-length", "0")))
                    trailers = []
                self.targets.append(target)
                said = {"method": method, "target": target, "fields": fields, "trailers": trailers}
                self.requests.append(said)
                body = json.dumps(said).encode()
                wanted = re.search(r"[?&]status=([1-5]\d\d)$", target)
                status = int(wanted[1]) if wanted else 200
                writer.write(b"HTTP/1.1 %d Status\r\nContent-Type: application/json\r\nX-Application: yes\r\n"
                             b"Content-Length: %d\r\n\r\n" % (status, len(body)) + (b"" if method == "HEAD" else body))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    @staticmethod
    async def _trailers(reader):
        """The trailers, after the last chunk."""
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            await reader.readexactly(size + 2)
        trailers = []
        while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
            name, _, value = line.decode("latin-1").partition(":")
            trailers.append([name, value.strip()])
        return trailers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        async def end():
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.loop.stop()

        self.loop.call_soon_threadsafe(lambda: asyncio.ensure_future(end()))
        self.thread.join(5)


def received_fields(answer):
    """The fields that the application has received with this request, names in lower case."""
    return [(name.lower(), value) for name, value in received_request(answer)["fields"]]


def received_request(answer):
    """The request as the application has received it."""
    if answer is None or answer.status != 200 or answer.field("x-application") is None:
        raise AssertionError(f"the application has not answered: {answer}")
    return json.loads(answer.body)


def identity(answer):
    """All fields that an application could read as the identity, with any character between the words."""
    return identity_of(received_request(answer)["fields"])


def identity_of(fields):
    found = sorted((name.lower(), value) for name, value in fields
                   if re.match(r"remote[^a-z](user|groups|realm|email|name|token)", name.lower()))
    # The users of these tests have no mail address and no display name. nginx leaves empty fields out, and others pass them on.
    # A token has its own test. The values that these tests forge do not begin like a token.
    return [(name, value) for name, value in found if (value or name not in ("remote-email", "remote-name", "remote-token"))
            and not (name == "remote-token" and value.startswith("eyJ"))]
