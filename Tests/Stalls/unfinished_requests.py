# SPDX-License-Identifier: Apache-2.0
"""Tests clients that do not complete a request while its login is in progress. The server must not crash.

The credentials are not in the cache, so the server answers in a task while it still waits for the body.
"""

import asyncio
import base64

from client import GET, Client
from server_process import Gatehouse, Limits

# Many rounds, because a fault depends on the order in which threads finish.
ROUNDS = 150
FRAMINGS = (b"Content-Length: 1000", b"Transfer-Encoding: chunked", b"Content-Length: 1000\r\nExpect: 100-continue")


async def unfinished(server, index, leaves):
    client = await Client(server.port).connect()
    await client.handshake()
    # Users that the realm accepts, and users that it rejects.
    user = base64.b64encode(b"%s%d:any" % (b"zed" if index % 2 else b"bob", index))
    head = b"GET /welcome HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic " + user + b"\r\n"
    await client.send(head + FRAMINGS[index % len(FRAMINGS)] + b"\r\n\r\n")
    await asyncio.wait_for(client.response(), 5)
    if index % len(FRAMINGS) == 2:
        # The first response was 100 Continue.
        await asyncio.wait_for(client.response(), 5)
    if not leaves:
        await client.watch()
    client.close()


async def check(server, leaves):
    if leaves:
        for index in range(ROUNDS):
            try:
                await unfinished(server, index, leaves)
            except (OSError, asyncio.TimeoutError):
                break
    else:
        await asyncio.gather(*(unfinished(server, index, leaves) for index in range(ROUNDS)), return_exceptions=True)
    await asyncio.sleep(0.5)
    try:
        client = await Client(server.port).connect()
        await client.handshake()
        await client.send(GET)
        return await client.response() == 200
    except OSError:
        return False


def measure(program, core):
    passed = failed = 0
    for leaves, name in ((True, "leaves after the answer"), (False, "stays until it is closed")):
        with Gatehouse(program, Limits(2, 3, 2, 100, 4, 5), core, may_end=True) as server:
            good = asyncio.run(check(server, leaves))
            passed, failed = passed + good, failed + (not good)
            print(f"unfinished: {ROUNDS} logins with unfinished bodies, the client {name:26}"
                  f" {'ok' if good else 'FAILED: the server has ended, status ' + str(server.process.poll())}")
    return passed, failed
