# SPDX-License-Identifier: Apache-2.0
"""Keeps a number of connections stalled, at all points, and replaces closed ones. It is a separate program.

    stalled_crowd.py PORT COUNT CORE

Prints `HELD REPLACED FAILED` twice a second: the number of open connections, of connections that the server has closed so far, and of
connections that did not reach their point. It ends when its standard input ends.
"""

import asyncio
import os
import sys

from client import Client
from deadlines import SocketWatcher
from server_process import LIMITS, held
from stall_points import STALL_POINTS

# The part of the connections that must be open: a few are always being replaced.
COMPLETE = 0.95


class StalledCrowd:
    def __init__(self, port, count):
        self.port, self.count = port, count
        self.replaced = self.failed = 0
        self.freed = SocketWatcher(self, each=0.5)
        # The server closes many connections at the same time. If all were replaced at once, the measured time would be that of
        # their handshakes. So at most 8 connections are opened at a time.
        self.opening = asyncio.Semaphore(8)

    def held(self):
        return held(self.port)

    async def one(self, point):
        client = Client(self.port, point.receive_buffer)
        client.rate = LIMITS.rate
        trickle = watch = None
        try:
            async with self.opening:
                await client.connect()
                more = await asyncio.wait_for(point.reach(client), 30)
            trickle = asyncio.create_task(more) if more else None
            if client.reads and not point.is_about_socket:
                await client.watch()
            else:
                watch = asyncio.create_task(client.watch()) if client.reads else None
                await self.freed.wait(client.local_port, client.began + 120)
            self.replaced += 1
        except (OSError, asyncio.TimeoutError):
            self.failed += 1
            await asyncio.sleep(0.1)
        finally:
            for task in (trickle, watch):
                if task:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
            client.close()

    async def keep_stalled(self, index):
        while True:
            # Each place uses one point, so that points with short deadlines do not cause most of the traffic.
            await self.one(STALL_POINTS[index % len(STALL_POINTS)])

    async def run(self):
        tasks = [asyncio.create_task(self.keep_stalled(index)) for index in range(self.count)]
        tasks.append(asyncio.create_task(self.freed.run()))
        ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        is_complete = False
        while not ended.done():
            here = len(self.held())
            if not is_complete and here >= self.count * COMPLETE:
                is_complete = True
                # From now on the measuring client runs on the same core and has priority.
                os.nice(5)
            print(here, self.replaced, self.failed, flush=True)
            await asyncio.sleep(0.5)
        os._exit(0)


def main():
    port, count, core = (int(word) for word in sys.argv[1:])
    os.sched_setaffinity(0, {core})
    asyncio.run(StalledCrowd(port, count).run())


if __name__ == "__main__":
    main()
