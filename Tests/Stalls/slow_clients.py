# SPDX-License-Identifier: Apache-2.0
"""Tests clients that are slow but within every deadline. Each must be served."""

import asyncio
import time

from client import GET, Client, request

CASES = []


def case(name):
    def register(body):
        CASES.append((name, body))
        return body
    return register


async def expect(client, *statuses):
    for status in statuses:
        answer = await asyncio.wait_for(client.response(), 15)
        if answer != status:
            return f"{answer or 'the end of the connection'} in place of {status}"
    return None


@case("a ClientHello in ten pieces within the deadline")
async def slow_hello(server):
    client = await Client(server.port).connect()
    hello, pause = client.hello(), server.limits.handshake * 0.07
    size = len(hello) // 10 + 1
    for start in range(0, len(hello), size):
        await client.send_raw(hello[start:start + size])
        await asyncio.sleep(pause)
    await client.handshake(hello=False)
    await client.send(GET)
    return await expect(client, 200)


@case("a header, a byte each 100 ms")
async def slow_header(server):
    client = await Client(server.port).connect()
    await client.handshake()
    await client.trickle(b"GET / HTTP/1.1\r\nHost:a\r\n\r\n", 1, 0.1)
    return await expect(client, 200)


@case("a body just above the rate, then another request")
async def slow_body(server):
    client = await Client(server.port).connect()
    await client.handshake()
    await client.send(request(b"Content-Length: 1000", method=b"POST"))
    await client.trickle(b"b" * 1000, server.limits.rate * 12 // 100, 0.1)
    await client.send(GET)
    return await expect(client, 405, 200)


@case("a chunked body just above the rate, then another request")
async def slow_chunks(server):
    client = await Client(server.port).connect()
    await client.handshake()
    await client.send(request(b"Transfer-Encoding: chunked", method=b"POST"))
    size = server.limits.rate * 12 // 100
    for _ in range(80):
        await client.send(b"%x\r\n%s\r\n" % (size, b"c" * size))
        await asyncio.sleep(0.1)
    await client.send(b"0\r\n\r\n" + GET)
    return await expect(client, 405, 200)


@case("requests just within the idle time")
async def nearly_idle(server):
    client = await Client(server.port).connect()
    await client.handshake()
    for _ in range(3):
        await client.send(GET)
        if fault := await expect(client, 200):
            return fault
        await asyncio.sleep(server.limits.idle - 0.75)
    return None


async def read_all(server, count, pause, size=65536, each=0.0, lasts=60.0):
    """Pipelines requests with a small window, waits, reads `size` bytes at a time for `lasts` seconds, then reads the rest."""
    client = await Client(server.port, receive_buffer=4096).connect()
    await client.handshake()
    sending = asyncio.create_task(client.send_raw(b"".join(client.encrypted(GET * 100) for _ in range(count // 100))))
    try:
        await asyncio.sleep(pause)
        slow_until = time.monotonic() + lasts
        for index in range(count):
            while b"\r\n\r\n" not in client.answer:
                if each and time.monotonic() < slow_until:
                    await asyncio.sleep(each)
                data = await asyncio.wait_for(client.read(size), 15)
                if not data:
                    return f"the end of the connection after {index} of {count} answers"
                client.answer += data
            if fault := await expect(client, 200):
                return f"{fault} after {index} of {count} answers"
        return None
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


@case("a pipeline read only after the header time, within the write time")
async def late_reader(server):
    return await read_all(server, 20000, (server.limits.header + server.limits.write) / 2)


@case("a pipeline read at 16 KiB a second for 3 write times")
async def slow_reader(server):
    return await read_all(server, 20000, 0.5, size=4096, each=0.25, lasts=server.limits.write * 3)


async def measure(server):
    async def run(name, body):
        began = time.monotonic()
        try:
            fault = await asyncio.wait_for(body(server), 90)
        except (OSError, asyncio.TimeoutError, AttributeError) as error:
            fault = repr(error)
        return name, fault, time.monotonic() - began
    results = await asyncio.gather(*(run(*one) for one in CASES))
    for name, fault, took in results:
        print(f"slow client: {name:70} {took:6.2f} s  {fault or 'ok'}")
    failed = sum(fault is not None for _, fault, _ in results)
    return len(results) - failed, failed
