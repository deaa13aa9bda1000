# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Clients that leave a request unfinished while a login decides about it: the server outlives them.

Each comes with credentials that no cache knows, so that a task answers while the body is still awaited.
"""

import asyncio
import base64

from client import GET, Client
from server_process import Gatehouse, Limits

# What goes wrong here depends on which thread lets go last.
ROUNDS = 150
FRAMINGS = (b"Content-Length: 1000", b"Transfer-Encoding: chunked", b"Content-Length: 1000\r\nExpect: 100-continue")


async def unfinished(server, index, leaves):
    client = await Client(server.port).connect()
    await client.handshake()
    # Known and unknown users: nobody needs an account for this.
    user = base64.b64encode(b"%s%d:any" % (b"zed" if index % 2 else b"bob", index))
    head = b"GET /welcome HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic " + user + b"\r\n"
    await client.send(head + FRAMINGS[index % len(FRAMINGS)] + b"\r\n\r\n")
    await asyncio.wait_for(client.response(), 5)
    if index % len(FRAMINGS) == 2:
        # 100 was the first, if it was a response at all.
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
            print(f"survival: {ROUNDS} logins with unfinished bodies, the client {name:26}"
                  f" {'ok' if good else 'FAILED: the server has ended, status ' + str(server.process.poll())}")
    return passed, failed
