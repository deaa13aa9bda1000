# SPDX-License-Identifier: Apache-2.0
"""A TLS client that can stop at any byte."""

import asyncio
import base64
import re
import socket
import ssl
import time

AUTHORIZATION = b"Authorization: Basic " + base64.b64encode(b"zed:any") + b"\r\n"
GET = b"GET /welcome HTTP/1.1\r\nHost: localhost\r\n" + AUTHORIZATION + b"\r\n"


def request(*fields, method=b"GET"):
    """The head of a request for /welcome by a user that the realm accepts."""
    lines = b"".join(field + b"\r\n" for field in fields)
    return method + b" /welcome HTTP/1.1\r\nHost: localhost\r\n" + AUTHORIZATION + lines + b"\r\n"


def context(version=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # These tests do not verify the certificate.
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if version:
        made.minimum_version = made.maximum_version = version
    return made


SHARED_CONTEXT = context()


class Client:
    """A TLS connection. TLS runs in memory, so that the client decides which bytes are sent, and when."""

    def __init__(self, port, receive_buffer=None, source="127.0.0.1", tls=SHARED_CONTEXT):
        self.port = port
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            # A small send buffer too, so that few bytes are sent ahead.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32768)
        self.socket.bind((source, 0))
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = tls.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.reads = True
        self.answer = b""
        self.began = self.ended = None
        self.manner = ""
        # The number of requests that the server can answer; it also answers an incomplete one at its deadline.
        self.requests = 1

    async def connect(self):
        await asyncio.get_running_loop().sock_connect(self.socket, ("127.0.0.1", self.port))
        self.local_port = self.socket.getsockname()[1]
        return self

    def mark(self):
        """Marks the beginning of the deadline."""
        self.began = time.monotonic()

    def hello(self):
        """The bytes of the ClientHello."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self.outgoing.read()

    async def handshake(self, hello=True):
        if hello:
            await self.send_raw(self.hello())
        while True:
            try:
                self.tls.do_handshake()
                return await self.send_raw(self.outgoing.read())
            except ssl.SSLWantReadError:
                await self.send_raw(self.outgoing.read())
                if not await self._receive():
                    raise ConnectionError("closed during the handshake") from None

    async def send_raw(self, data):
        if data:
            await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def send(self, data):
        await self.send_raw(self.encrypted(data))

    def encrypted(self, data):
        self.tls.write(data)
        return self.outgoing.read()

    async def _receive(self, size=65536):
        data = await asyncio.get_running_loop().sock_recv(self.socket, size)
        if data:
            self.incoming.write(data)
        return len(data)

    async def read(self, size=65536):
        """Returns some plaintext, or no bytes at the end of the connection."""
        while True:
            try:
                return self.tls.read(size)
            except ssl.SSLWantReadError:
                if not await self._receive(size):
                    return b""
            except ssl.SSLZeroReturnError:
                return b""

    async def response(self):
        """Returns the status of the next response, or 0 if there is none."""
        while b"\r\n\r\n" not in self.answer:
            data = await self.read()
            if not data:
                return 0
            self.answer += data
        head, _, rest = self.answer.partition(b"\r\n\r\n")
        found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        # A 100 response has no body.
        length = int(found.group(1)) if found else 0
        while len(rest) < length:
            data = await self.read()
            if not data:
                return 0
            rest += data
        self.answer = rest[length:]
        return int(head.split(b" ", 2)[1])

    async def trickle(self, data, count, each):
        """Sends `count` bytes every `each` seconds. It catches up after delays, so that the rate stays the same on a busy machine."""
        due = time.monotonic()
        for start in range(0, len(data), count):
            await self.send(data[start:start + count])
            due += each
            await asyncio.sleep(max(0, due - time.monotonic()))

    async def watch(self):
        """Reads until the server ends the connection, and records when and how. It does not close the connection."""
        try:
            while await self._receive():
                pass
            self.manner = "FIN"
        except OSError as error:
            self.manner = "RST" if isinstance(error, ConnectionResetError) else type(error).__name__
        self.ended = time.monotonic()
        self.manner = " ".join(self._last_words() + [self.manner])

    def _last_words(self):
        words = []
        try:
            while data := self.tls.read(65536):
                self.answer += data
            words.append("close_notify")
        except ssl.SSLZeroReturnError:
            words.append("close_notify")
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            words.append(f"alert {error.reason}" if error.reason else "TLS error")
        return re.findall(r"HTTP/1\.1 (\d+)", self.answer.decode("latin-1")) + words

    def close(self):
        self.socket.close()
