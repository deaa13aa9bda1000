# SPDX-License-Identifier: Apache-2.0
"""Tests the deadlines: one client stalls at every point, and the server must end its connection in time."""

import asyncio
import time

from client import Client
from stall_points import STALL_POINTS, LINGER

EARLY, LATE = 0.5, 1.5


async def stall(server, point, freed):
    """Stalls at a point until the server has closed the socket. Returns the client, with what it received."""
    client = Client(server.port, point.receive_buffer)
    client.rate = server.limits.rate
    client.fault = None
    trickle = watch = None
    try:
        await client.connect()
        more = await asyncio.wait_for(point.reach(client), 10)
        if more:
            trickle = asyncio.create_task(more)
        if client.reads:
            watch = asyncio.create_task(client.watch())
        patience = client.began + point.deadline(server.limits) + LINGER + 4
        client.freed = await freed.wait(client.local_port, patience)
        if watch:
            # The last bytes of the server may not have arrived yet.
            await asyncio.wait([watch], timeout=0.5)
    except (OSError, asyncio.TimeoutError) as error:
        client.fault = f"the client did not reach the point: {error!r}"
        client.freed = None
    for task in (trickle, watch):
        if task:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    client.close()
    return client


class SocketWatcher:
    """Waits until the server has closed a socket. It reads the kernel's table of sockets, once for all waiters."""

    def __init__(self, server, each=0.05):
        self.server, self.each = server, each
        self.waiters = {}

    async def wait(self, port, until):
        """Returns the time at which the socket was closed, or None if it is still open at `until`."""
        future = asyncio.get_running_loop().create_future()
        self.waiters[port] = future
        try:
            return await asyncio.wait_for(future, max(0.1, until - time.monotonic()))
        except asyncio.TimeoutError:
            return None
        finally:
            self.waiters.pop(port, None)

    async def run(self):
        while True:
            await asyncio.sleep(self.each)
            held = self.server.held()
            for port, future in list(self.waiters.items()):
                if port not in held and not future.done():
                    future.set_result(time.monotonic())


def verdict(point, client, limits):
    """Returns a description of the fault, or None if the connection ended as it must."""
    deadline = point.deadline(limits)
    if client.fault:
        return client.fault
    if client.freed is None:
        return "the server has not closed the socket"
    freed = client.freed - client.began
    if point.is_about_socket:
        ended = freed
    elif client.ended is None:
        return "the client received no end of the connection"
    else:
        ended = client.ended - client.began
    if ended < deadline - EARLY:
        return f"{deadline - ended:.1f} s too early"
    if ended > deadline + LATE:
        return f"{ended - deadline:.1f} s too late"
    if freed > deadline + LINGER + LATE:
        return "the server closed the socket too late"
    statuses = [word for word in client.manner.split() if word.isdigit()]
    if statuses.count("408") and len(statuses) > client.requests:
        return f"{len(statuses)} answers to {client.requests} request(s): {' '.join(statuses)}"
    return None


async def measure(server):
    """Stalls at all points at the same time. Prints a table and returns the numbers of passed and failed points."""
    freed = SocketWatcher(server)
    looking = asyncio.create_task(freed.run())
    clients = await asyncio.gather(*(stall(server, point, freed) for point in STALL_POINTS))
    looking.cancel()
    print(f"{'stall':50} {'deadline':>8} {'ended':>7} {'closed':>7}  {'what the client received':34} verdict")
    failed = 0
    for point, client in zip(STALL_POINTS, clients):
        def since(when):
            return "-" if when is None else f"{when - client.began:.2f}"
        fault = verdict(point, client, server.limits)
        failed += fault is not None
        saw = client.manner if client.reads else "(reads nothing)"
        print(f"{point.name:50} {point.deadline(server.limits):8.2f} {since(client.ended):>7} {since(client.freed):>7}"
              f"  {saw:34} {fault or 'ok'}")
    return len(STALL_POINTS) - failed, failed
