# SPDX-License-Identifier: Apache-2.0
"""An application with uploads, downloads, server-sent events and WebSockets, whose progress a test controls."""

import asyncio
import base64
import hashlib
import json
import re
import struct
import threading
import time

from proxy_fixture import Application

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Stream:
    """A request for which the application sends an answer in parts, or receives a body in parts. The query of the request is its name."""

    def __init__(self, fields):
        self.fields = fields
        self.received, self.digest = 0, hashlib.sha256()
        self.parts = asyncio.Queue()
        self.has_ended = False


class StreamingApplication(Application):
    title = "an application with uploads, events and WebSockets"

    def __init__(self):
        self.streams = {}
        self.changed = threading.Condition()
        super().__init__()

    def stream(self, name, wanted=lambda stream: True, seconds=10):
        """Waits until a stream exists and `wanted` is true for it. Returns the stream, or None."""
        until = time.monotonic() + seconds
        with self.changed:
            while name not in self.streams or not wanted(self.streams[name]):
                if not self.changed.wait(max(0.0, until - time.monotonic())):
                    return None
            return self.streams[name]

    def push(self, name, part):
        """Sends a part of an answer: bytes of a download, or the text of an event or message. None ends the answer."""
        self.loop.call_soon_threadsafe(self.streams[name].parts.put_nowait, part)

    def _note(self):
        with self.changed:
            self.changed.notify_all()

    async def _serve(self, reader, writer):
        stream = None
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ", 2)
                fields = [[name, value.strip()] for name, _, value in (line.partition(":") for line in head[1:-2])]
                named = {name.lower(): value for name, value in fields}
                path, _, name = target.partition("?")
                stream = self.streams[name] = Stream(fields)
                self._note()
                kind = path.rpartition("/")[2]
                if kind in ("events", "download", "socket"):
                    await getattr(self, f"_{kind}")(stream, named, reader, writer)
                    return
                if named.get("expect", "").lower() == "100-continue":
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                async for part in self._body(reader, named):
                    stream.received += len(part)
                    stream.digest.update(part)
                    self._note()
                stream.has_ended = True
                self._note()
                body = json.dumps({"method": method, "target": target, "fields": fields, "received": stream.received,
                                   "digest": stream.digest.hexdigest()}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Application: yes\r\nContent-Length: %d\r\n\r\n%s"
                             % (len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ValueError):
            pass
        finally:
            if stream is not None:
                stream.has_ended = True
                self._note()
            writer.close()

    @staticmethod
    async def _body(reader, named):
        if named.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
                while size:
                    part = await reader.read(min(size, 65536))
                    if not part:
                        raise ConnectionError("the body has no end")
                    size -= len(part)
                    yield part
                await reader.readexactly(2)
            await reader.readuntil(b"\r\n")
        else:
            left = int(named.get("content-length", "0"))
            while left:
                part = await reader.read(min(left, 65536))
                if not part:
                    raise ConnectionError("the body has no end")
                left -= len(part)
                yield part

    async def _events(self, stream, _, reader, writer):
        """Server-sent events, in chunks, as frameworks send them."""
        def chunk(text):
            data = f"data: {text}\n\n".encode()
            return b"%x\r\n%s\r\n" % (len(data), data)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Application: yes\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n" + chunk(json.dumps({"fields": stream.fields})))
        await self._parts(stream, reader, writer, chunk, b"0\r\n\r\n")

    async def _download(self, stream, _, reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nX-Application: yes\r\n"
                     b"Connection: close\r\n\r\n")
        await self._parts(stream, reader, writer, lambda part: part, b"")

    async def _parts(self, stream, reader, writer, form, end):
        async def closed():
            while await reader.read(1000):
                pass
        gone = asyncio.ensure_future(closed())
        try:
            while True:
                part = asyncio.ensure_future(stream.parts.get())
                await asyncio.wait([part, gone], return_when=asyncio.FIRST_COMPLETED)
                if not part.done():
                    part.cancel()
                    return
                writer.write(end if part.result() is None else form(part.result()))
                await writer.drain()
                if part.result() is None:
                    return
        finally:
            gone.cancel()

    async def _socket(self, stream, named, reader, writer):
        """A WebSocket that returns each text, and sends the texts of the test."""
        accept = base64.b64encode(hashlib.sha1((named.get("sec-websocket-key", "") + GUID).encode()).digest()).decode()
        writer.write(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())

        def frame(text):
            data = text.encode()
            size = bytes([len(data)]) if len(data) < 126 else struct.pack("!BH", 126, len(data))
            return b"\x81" + size + data

        async def echo():
            while True:
                first, length = await reader.readexactly(2)
                mask = await reader.readexactly(4)
                data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(await reader.readexactly(length & 127)))
                if first & 15 == 8:
                    return
                writer.write(frame("back: " + data.decode()))

        async def push():
            while (text := await stream.parts.get()) is not None:
                writer.write(frame(text))

        tasks = [asyncio.ensure_future(echo()), asyncio.ensure_future(push())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.exception()
        finally:
            for task in tasks:
                task.cancel()
