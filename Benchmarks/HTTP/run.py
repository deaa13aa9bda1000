# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Measures the server beside nginx, Apache httpd, Caddy and Tomcat: see docs/performance.md."""

import os
import shutil
import signal
import sys

import handshakes
import load
import memory
import report
from fleet import Client, Fleet, say
from peers import Gatehouse, all_peers
from settings import Settings, refuse


def stopped(number, frame):
    sys.exit(128 + number)


def choose(settings, fleet):
    """The peers that were asked for and are there."""
    chosen = []
    for peer in all_peers():
        if peer.name not in settings.peers:
            continue
        if not peer.available():
            say(f"{peer.name} is left out: {peer.missing()}")
            continue
        if isinstance(peer, Gatehouse) and not peer.settle(fleet.folder):
            say(f"{peer.name} is left out: this binary refuses its configuration: {peer.refusal}")
            continue
        chosen.append(peer)
    return chosen


def take_index(fleet, peers):
    """What ours shows at `/` is what the others show there."""
    for peer in peers:
        if isinstance(peer, Gatehouse):
            running = fleet.start(peer)
            with Client(running.port) as client:
                fleet.index = client.get("/")[2]
            fleet.stop(running)
            return


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stopped)
    known = [peer.name for peer in all_peers()]
    # Nobody misses a server from before who has not named one.
    usual = [name for name in known if name != "gatehouse-before" or "GATEHOUSE_BEFORE" in os.environ]
    settings = Settings.from_environment(known, usual)
    if settings.server_core == settings.load_core:
        say("there is one core only: server and load share it, and requests per second say nothing")
    for program, package in (("openssl", "openssl"), *((("wrk", "wrk"),) if "throughput" in settings.parts else ())):
        if shutil.which(program) is None:
            refuse(f"{program} is needed. Debian: apt-get install {package}")
    os.sched_setaffinity(0, {settings.load_core})

    with Fleet(settings) as fleet:
        peers = choose(settings, fleet)
        if not peers:
            refuse("there is nothing to measure")
        lines = report.machine(settings, peers)
        take_index(fleet, peers)
        for name, part in (("throughput", load), ("handshakes", handshakes), ("memory", memory)):
            if name in settings.parts:
                lines += part.measure(fleet, peers, settings)
    text = "\n".join(lines).rstrip() + "\n"
    print(text, end="")
    if settings.output:
        with open(settings.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
