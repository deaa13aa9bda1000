# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Many concurrent connections. The application must receive the right user on each."""

import asyncio
import json
import resource
import ssl
import time


def ask(place, cookies, connections, rounds):
    """Returns the seconds that all requests took. A wrong or missing answer is an AssertionError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < 3 * connections:
        raise AssertionError(f"the limit of open files is too low: {hard}")
    return asyncio.run(_ask(place, cookies, connections, rounds))


async def _ask(place, cookies, connections, rounds):
    context = ssl.create_default_context(cafile=place.proxy.certificate[0])
    names = sorted(cookies)
    # All connections are opened before the first request. At most 100 handshakes run at a time, so that no handshake times out.
    gate = asyncio.Semaphore(100)

    async def connect(number):
        async with gate:
            streams = await asyncio.open_connection("127.0.0.1", place.proxy.port, ssl=context,
                                                    server_hostname="app.example.com", ssl_handshake_timeout=60)
        return names[number % len(names)], streams

    opened = await asyncio.gather(*(connect(number) for number in range(connections)))
    began = time.monotonic()
    try:
        await asyncio.gather(*(_talk(place, name, cookies[name], streams, rounds) for name, streams in opened))
        return time.monotonic() - began
    finally:
        for _, (_, writer) in opened:
            writer.transport.abort()
        await asyncio.sleep(0)


async def _talk(place, name, cookie, streams, rounds):
    reader, writer = streams
    for _ in range(rounds):
        writer.write(f"GET /shared/crowd HTTP/1.1\r\nHost: app.example.com:{place.proxy.port}\r\n"
                     f"Accept: application/json\r\nCookie: __Host-gatehouse={cookie}\r\n\r\n".encode())
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 120)).decode("latin-1").lower()
        status = int(head.split()[1])
        if "transfer-encoding: chunked" in head:
            body = b""
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        else:
            body = await reader.readexactly(int(head.split("content-length:")[1].split()[0]))
        if status != 200:
            raise AssertionError(f"{name} got {status}: {head}")
        users = [value for field, value in json.loads(body)["fields"] if field.lower() == "remote-user"]
        if users != [name]:
            raise AssertionError(f"the request of {name} arrived with the users {users}")
