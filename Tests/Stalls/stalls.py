#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the server ends connections of stalled clients in time, and serves all other clients meanwhile.

    stalls.py PROGRAM [--crowd 2000] [--rounds 5] [--seconds 3] [--realtime] [--only SECTION]

PROGRAM is the server binary. SECTION is deadlines, slow, limits, unfinished or latency. Requires Python 3.9 and Linux (the kernel's table
of sockets, core affinity). wrk is used if it is installed.
"""

import argparse
import asyncio
import os
import sys

import connection_limits
import deadlines
import latency
import slow_clients
import unfinished_requests
from server_process import Gatehouse, Limits

# All limits are different, so that the wrong deadline at a point is noticed.
SHORT = dict(handshake=2, header=3, body=2, rate=100, idle=4, write=5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--crowd", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", choices=["deadlines", "slow", "limits", "unfinished", "latency"])
    parser.add_argument("--realtime", action="store_true",
                        help="give the server and the measuring clients priority over all other processes; requires root")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    server_core, client_core = cores[0], cores[-1]
    print(f"load average {os.getloadavg()[0]:.2f}; server on core {server_core}, clients on core {client_core}")

    def wanted(name):
        return options.only in (None, name)

    results = []
    if wanted("deadlines"):
        with Gatehouse(options.program, Limits(**SHORT), server_core) as server:
            results.append(asyncio.run(deadlines.measure(server)))
    if wanted("slow"):
        with Gatehouse(options.program, Limits(**SHORT), server_core) as server:
            results.append(asyncio.run(slow_clients.measure(server)))
    if wanted("limits"):
        results.append(asyncio.run(connection_limits.measure(options.program, server_core)))
    if wanted("unfinished"):
        results.append(unfinished_requests.measure(options.program, server_core))
    if wanted("latency"):
        results.append(latency.measure(
            options.program, options.crowd, options.rounds, options.seconds, server_core, client_core,
            options.realtime))
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
