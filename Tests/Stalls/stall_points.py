# SPDX-License-Identifier: Apache-2.0
"""The points of a connection at which a client can stall, and the deadline for each.

The function of a point brings a connection there and marks the beginning of the deadline. If the client still sends bytes at that point,
the function returns a coroutine that sends them.
"""

import asyncio

from client import GET, request

STALL_POINTS = []
# HTTP1Handler.lingerTime: how long a client may take to close after the last response.
LINGER = 5


class StallPoint:
    """A point at which a client stalls. With `is_about_socket` the deadline is for closing the socket, not for the end of the stream."""

    def __init__(self, name, deadline, reach, is_about_socket, receive_buffer):
        self.name, self.deadline, self.reach = name, deadline, reach
        self.is_about_socket, self.receive_buffer = is_about_socket, receive_buffer


def stall_point(name, deadline, is_about_socket=False, receive_buffer=None):
    def register(reach):
        STALL_POINTS.append(StallPoint(name, deadline, reach, is_about_socket, receive_buffer))
        return reach
    return register


def rate_ends(limits, rate):
    """The time after which a body at `rate` is too slow: rate * t < limits.rate * (t - limits.body)."""
    return limits.rate * limits.body / (limits.rate - rate)


# The handshake

@stall_point("TCP only, no byte", lambda limits: limits.handshake)
async def nothing(client):
    client.mark()


@stall_point("within the ClientHello, half of it", lambda limits: limits.handshake)
async def half_a_hello(client):
    client.mark()
    hello = client.hello()
    await client.send_raw(hello[:len(hello) // 2])


@stall_point("within the ClientHello, a byte each 500 ms", lambda limits: limits.handshake)
async def slow_hello(client):
    client.mark()
    hello = client.hello()

    async def trickle():
        for byte in hello:
            await client.send_raw(bytes([byte]))
            await asyncio.sleep(0.5)
    return trickle()


@stall_point("after the ClientHello", lambda limits: limits.handshake)
async def hello_only(client):
    client.mark()
    await client.send_raw(client.hello())


# The header

@stall_point("after the handshake, no byte", lambda limits: limits.header)
async def no_request(client):
    await client.handshake()
    client.mark()


@stall_point("after the handshake, half a TLS record", lambda limits: limits.header)
async def half_a_record(client):
    await client.handshake()
    client.mark()
    record = client.encrypted(GET)
    await client.send_raw(record[:len(record) // 2])


@stall_point("within the request line", lambda limits: limits.header)
async def request_line(client):
    await client.handshake()
    client.mark()
    await client.send(b"GET /welc")


@stall_point("within the request line, a byte each 500 ms", lambda limits: limits.header)
async def slow_request_line(client):
    await client.handshake()
    client.mark()
    return client.trickle(b"GET /welcome/" + b"a" * 200, 1, 0.5)


@stall_point("within the header", lambda limits: limits.header)
async def header(client):
    await client.handshake()
    client.mark()
    await client.send(GET[:-2] + b"X-Slow: ")


@stall_point("within the header, a field each 500 ms", lambda limits: limits.header)
async def slow_header(client):
    await client.handshake()
    client.mark()
    await client.send(GET[:-2])
    return client.trickle(b"X-Slow: 1\r\n" * 90, 11, 0.5)


@stall_point("within a second header", lambda limits: limits.header)
async def second_header(client):
    await client.handshake()
    await client.send(GET)
    await client.response()
    client.mark()
    await client.send(GET[:-2])


# The body

@stall_point("before the body", lambda limits: limits.body)
async def no_body(client):
    await client.handshake()
    client.mark()
    await client.send(request(b"Content-Length: 1000", method=b"POST"))


@stall_point("within the body, at half the rate", lambda limits: rate_ends(limits, limits.rate / 2))
async def slow_body(client):
    await client.handshake()
    client.mark()
    await client.send(request(b"Content-Length: 60000", method=b"POST"))
    return client.trickle(b"b" * 60000, client.rate // 20, 0.1)


@stall_point("within a chunk's size", lambda limits: limits.body)
async def chunk_size(client):
    await client.handshake()
    client.mark()
    await client.send(request(b"Transfer-Encoding: chunked", method=b"POST") + b"1")


@stall_point("within a chunk's extension, 50 bytes each 100 ms", lambda limits: limits.body)
async def chunk_extension(client):
    await client.handshake()
    client.mark()
    await client.send(request(b"Transfer-Encoding: chunked", method=b"POST") + b"1;x=")
    return client.trickle(b"y" * 8000, 50, 0.1)


# The answer

@stall_point("while reading the answers to a pipeline", lambda limits: limits.write, is_about_socket=True, receive_buffer=2048)
async def pipeline(client):
    await client.handshake()
    client.reads = False
    # The server stops writing long before it stops reading.
    client.mark()
    await flood(client)


async def flood(client, count=40000):
    """Sends requests until the server reads no more of them. Returns their number, at most `count`."""
    sent = 0
    while sent < count:
        try:
            await asyncio.wait_for(client.send(GET * 100), 0.3)
        except asyncio.TimeoutError:
            break
        sent += 100
    return sent


@stall_point("after the answer", lambda limits: limits.idle)
async def idle(client):
    await client.handshake()
    await client.send(GET)
    await client.response()
    client.mark()


@stall_point("after an answer with Connection: close", lambda limits: LINGER, is_about_socket=True)
async def lingering(client):
    await client.handshake()
    client.mark()
    await client.send(request(b"Connection: close"))


@stall_point("after Connection: close, and still sending", lambda limits: LINGER, is_about_socket=True)
async def lingering_talker(client):
    await client.handshake()
    client.mark()
    await client.send(request(b"Connection: close"))
    return client.trickle(GET * 200, len(GET), 0.1)
