# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of idle TLS connections."""

import resource
import time

import client
from fleet import AUTHORIZATION, say
from load import REQUESTS, WrongAnswer, check
from report import Figures, figure, in_turn, paragraph, ratio_of, rounds, table

WAYS = {"request": "after a request", "handshake": "after the handshake"}
# Descriptors that a server or the client needs in addition to its connections.
OTHER_DESCRIPTORS = 200
# Connections before the first measurement, so that memory that is allocated once is not counted. Few, because later connections
# reuse their memory.
WARMING = 16


def allow(number):
    """Raises the limit of open files, which servers and client inherit. Returns whether so many connections are possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + OTHER_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE,
                               (wanted, hard if hard == resource.RLIM_INFINITY else max(hard, wanted)))
        except (ValueError, OSError):
            return False
    return True


def settled(service):
    """Waits until the memory does not change any more. Returns (PSS, RSS)."""
    last = service.memory()
    for _ in range(20):
        time.sleep(0.25)
        now = service.memory()
        if abs(now[0] - last[0]) <= max(65536, last[0] // 1000):
            return now
        last = now
    return last


def hold(fleet, running, settings, number, way):
    words = ("/welcome", AUTHORIZATION) if way == "request" else ()
    return client.TLSClient(fleet.folder, settings.load_core, "hold", running.port, number, settings.connections, way,
                            *words)


def sample(fleet, peer, settings, number, way):
    """Takes one sample with a new server, because a process seldom returns memory to the system."""
    running = fleet.start(peer)
    try:
        # One request first, so that servers with a cache of verified passwords have computed bcrypt.
        check(running, REQUESTS["basic"], None)
        with hold(fleet, running, settings, WARMING, "request") as first:
            first.answer()
        time.sleep(0.5)
        before = settled(running.service)
        with hold(fleet, running, settings, number, way) as held:
            answer = held.answer()
            if answer["open"] != number:
                raise client.ClientError(f"{answer['open']} of {number} connections could be opened; first failure: {answer['why']}")
            after = settled(running.service)
            held.go()
            still = held.answer()["still"]
            if still != number:
                raise client.ClientError(f"the server has closed {number - still} of {number} meanwhile")
        return {
            "pss": (after[0] - before[0]) / number,
            "rss": (after[1] - before[1]) / number,
            "empty": before[0] / 2**20,
        }
    finally:
        fleet.stop(running)


def measure(fleet, peers, settings):
    """Measures all servers and returns the section of the report about memory."""
    figures = Figures()
    try:
        client.build(fleet.folder)
    except client.ClientError as error:
        say(f"memory is left out: {error}")
        return []
    notes = []
    for number in settings.idle:
        if not allow(number):
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            notes.append(f"{number:,} connections are left out: the limit on open files is {limit}.")
            say(notes[-1])
            continue
        failed = set()
        for round_ in range(settings.memory_rounds):
            for way in WAYS:
                for peer in in_turn(peers, round_):
                    if number > peer.holds or (peer.name, way) in failed:
                        continue
                    try:
                        taken = sample(fleet, peer, settings, number, way)
                    except (client.ClientError, WrongAnswer, RuntimeError) as error:
                        say(f"left out: {peer.name}, {number} {way}: {error}")
                        failed.add((peer.name, way))
                        notes.append(f"{peer.title}, {number:,} {WAYS[way]}: {error}.")
                        continue
                    figures.add(peer, (number, way), round_, taken)
                    say(f"round {round_ + 1}, {number} {way}, {peer.name}: {taken['pss']:.0f} bytes")
    return section(figures, peers, settings, notes)


def section(figures, peers, settings, notes):
    rows = []
    for number in settings.idle:
        for way, title in WAYS.items():
            for peer in peers:
                taken = figures.of(peer, (number, way))
                if taken:
                    rows.append([
                        f"{number:,}, {title}", peer.title, figure(taken, "pss", 0),
                        figure(taken, "rss", 0, spread=False),
                        ratio_of(figures, peer, (number, way), "nginx", (number, way), "pss"),
                        figure(taken, "empty", 0),
                    ])
    return [
        "### Memory of idle connections",
        "",
        paragraph(f"""
            TLS 1.3, {rounds(settings.memory_rounds)}, a new server for each sample, warmed by {WARMING} connections.
            *PSS* and *RSS* are bytes for each connection: the memory of all processes of the server with the connections, less
            their memory before. PSS counts a shared page once. *Empty* is the memory before, in MiB of PSS. Memory of the
            kernel is not included. nginx reserves memory for all connections that it may have (16,384 here) when it starts:
            that memory is in *empty*."""),
        "",
        *table(["connections", "server", "PSS", "RSS", "ratio", "empty"], rows, text=2),
        "",
        *(f"- {note}" for note in notes),
        *([""] if notes else []),
    ]
