#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Stalls at every point of a connection, and looks that the server ends it in time and serves everybody else.

    stalls.py PROGRAM [--crowd 2000] [--rounds 5] [--seconds 3] [--realtime] [--only SECTION]

PROGRAM is the gatehouse to try; SECTION is closing, honest, bounds, survival or latency. Python 3.9 and Linux (the kernel's table of sockets, core affinity); wrk if installed.
"""

import argparse
import asyncio
import os
import sys

import connection_limits
import deadlines
import slow_clients
import latency
import unfinished_requests
from server_process import Gatehouse, Limits

# All different, so that a deadline that takes the place of another shows.
SHORT = dict(handshake=2, header=3, body=2, rate=100, idle=4, write=5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--crowd", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", choices=["closing", "honest", "bounds", "survival", "latency"])
    parser.add_argument("--realtime", action="store_true",
                        help="server and measuring clients run before all other work, which does not count then; for root")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    server_core, client_core = cores[0], cores[-1]
    print(f"load average {os.getloadavg()[0]:.2f}; server on core {server_core}, clients on core {client_core}")

    def wanted(name):
        return options.only in (None, name)

    results = []
    if wanted("closing"):
        with Gatehouse(options.program, Limits(**SHORT), server_core) as server:
            results.append(asyncio.run(deadlines.measure(server)))
    if wanted("honest"):
        with Gatehouse(options.program, Limits(**SHORT), server_core) as server:
            results.append(asyncio.run(slow_clients.measure(server)))
    if wanted("bounds"):
        results.append(asyncio.run(connection_limits.measure(options.program, server_core)))
    if wanted("survival"):
        results.append(unfinished_requests.measure(options.program, server_core))
    if wanted("latency"):
        results.append(latency.measure(
            options.program, options.crowd, options.rounds, options.seconds, server_core, client_core,
            options.realtime))
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
