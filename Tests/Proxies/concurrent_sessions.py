# SPDX-License-Identifier: Apache-2.0
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
    opened = []

    async def connect():
        async with gate:
            streams = await asyncio.open_connection("127.0.0.1", place.proxy.port, ssl=context,
                                                    server_hostname="app.example.com", ssl_handshake_timeout=60)
        opened.append(streams[1])
        return streams

    repeated = [0]

    async def talk(name, streams):
        for _ in range(rounds):
            # A busy machine may take longer for the handshakes than HAProxy waits for a request (408), and longer for the checks
            # than it waits for Gatehouse (503). Caddy answers 502 if its connection to the application fails. None of these lets anybody
            # in. The request is sent again.
            for attempt in range(5):
                if await _request(place, name, cookies[name], streams) == 200:
                    break
                repeated[0] += 1
                streams = await connect()
            else:
                raise AssertionError(f"{name} got no answer in 5 attempts")

    all_streams = await asyncio.gather(*(connect() for _ in range(connections)))
    began = time.monotonic()
    try:
        await asyncio.gather(*(talk(names[number % len(names)], streams) for number, streams in enumerate(all_streams)))
        if repeated[0]:
            print(f"        {repeated[0]} requests were repeated after 408, 502 or 503")
        return time.monotonic() - began
    finally:
        for writer in opened:
            writer.transport.abort()
        await asyncio.sleep(0)


async def _request(place, name, cookie, streams):
    """Sends a request. Returns the status: 200 with the right user, 408, 502 or 503."""
    reader, writer = streams
    writer.write(f"GET /shared/crowd HTTP/1.1\r\nHost: app.example.com:{place.proxy.port}\r\n"
                 f"Accept: application/json\r\nCookie: __Host-gatehouse={cookie}\r\n\r\n".encode())
    try:
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 120)).decode("latin-1").lower()
    except (asyncio.IncompleteReadError, ConnectionError):
        # The proxy has closed the connection while the request was sent.
        return 408
    status = int(head.split()[1])
    if status in (408, 502, 503):
        return status
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
    return status
