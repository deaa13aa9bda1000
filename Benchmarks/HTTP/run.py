# SPDX-License-Identifier: Apache-2.0
"""Compares the server with nginx, Apache httpd, Caddy and Tomcat: see docs/performance.md."""

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
    """Returns the servers that were requested and are installed."""
    chosen = []
    for peer in all_peers():
        if peer.name not in settings.peers:
            continue
        if not peer.available():
            say(f"{peer.name} is left out: {peer.missing()}")
            continue
        if isinstance(peer, Gatehouse) and not peer.settle(fleet.folder):
            say(f"{peer.name} is left out: this binary rejects its configuration: {peer.refusal}")
            continue
        chosen.append(peer)
    return chosen


def take_index(fleet, peers):
    """Gets the page `/` of Gatehouse. The other servers serve the same bytes."""
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
    # The program before a change is measured by default only if GATEHOUSE_BEFORE is set.
    usual = [name for name in known if "-before" not in name or "GATEHOUSE_BEFORE" in os.environ]
    settings = Settings.from_environment(known, usual)
    if settings.server_core == settings.load_core:
        say("there is only one core: server and load share it, so requests per second are meaningless")
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
