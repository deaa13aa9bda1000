# SPDX-License-Identifier: Apache-2.0
"""Tests the limits on connections: further connections are closed at once, the others are served."""

import asyncio

from client import GET, Client
from server_process import Gatehouse, Limits

TOTAL, PER_ADDRESS = 30, 20


async def open_served_connection(server, source):
    """Returns a client that has been served, or None if its connection was closed."""
    client = await Client(server.port, source=source).connect()
    try:
        await asyncio.wait_for(client.handshake(), 5)
        await client.send(GET)
        if await asyncio.wait_for(client.response(), 5) == 200:
            return client
    except (OSError, asyncio.TimeoutError):
        pass
    client.close()
    return None


async def open_served_connections(server, source, count):
    return [client for client in [await open_served_connection(server, source) for _ in range(count)] if client]


async def check(server):
    first = await open_served_connections(server, "127.0.0.1", PER_ADDRESS + 5)
    yield "connections of one address", len(first), PER_ADDRESS
    second = await open_served_connections(server, "127.0.0.2", PER_ADDRESS)
    yield "connections of another address, up to the total", len(second), TOTAL - PER_ADDRESS
    third = await open_served_connections(server, "127.0.0.3", 5)
    yield "connections of a third address beyond the total", len(third), 0
    yield "connections the server holds", len(server.held()), TOTAL
    served = 0
    for client in first + second:
        await client.send(GET)
        served += await client.response() == 200
    yield "open connections that are still served", served, TOTAL
    first.pop().close()
    await asyncio.sleep(0.5)
    third = await open_served_connections(server, "127.0.0.3", 2)
    yield "new connections after one has been closed", len(third), 1
    for client in first + second + third:
        client.close()


async def measure(program, core):
    limits = Limits(connections=TOTAL, connections_per_address=PER_ADDRESS)
    passed = failed = 0
    with Gatehouse(program, limits, core) as server:
        async for name, count, expected in check(server):
            good = count == expected
            passed, failed = passed + good, failed + (not good)
            print(f"limits: {name:60} {count:5} of {expected:5}  {'ok' if good else 'FAILED'}")
    return passed, failed
