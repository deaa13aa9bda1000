# SPDX-License-Identifier: Apache-2.0
"""Measures full and resumed TLS 1.3 handshakes: their rate, and the processor time of the server."""

import client
from fleet import say
from report import Figures, figure, in_turn, paragraph, ratio_of, rounds, table

KINDS = {"ecdsa": "ECDSA P-256", "rsa": "RSA 2048"}
WAYS = {"full": "full", "resumed": "resumed"}


def sample(fleet, running, way, settings, seconds):
    """Takes one sample. Raises a ClientError if a handshake failed or was not of the right kind."""
    with client.TLSClient(fleet.folder, settings.load_core, "handshakes", running.port, seconds,
                          settings.connections, way) as tls:
        if tls.line() != "ready":
            raise client.ClientError("the client is not ready")
        before = running.service.cpu()
        tls.go()
        answer = tls.answer()
        cpu = running.service.cpu() - before
    if answer["failed"] or not answer["done"]:
        raise client.ClientError(f"{answer['failed']} handshakes failed, {answer['done']} succeeded; first failure: {answer['why']}")
    if answer["resumed"] != (answer["done"] if way == "resumed" else 0):
        raise client.ClientError(f"{answer['resumed']} of {answer['done']} were resumed")
    return {
        "rate": answer["done"] / answer["seconds"],
        "cpu": cpu * 1e6 / answer["done"],
        "per_cpu": answer["done"] / cpu if cpu else float("nan"),
        "busy": cpu / answer["seconds"],
        "parameters": f"{answer['cipher'].replace('TLS_', '').rpartition('_')[0]}, {answer['group']}",
    }


def measure(fleet, peers, settings):
    """Measures all servers and returns the section of the report about handshakes."""
    figures = Figures()
    try:
        client.build(fleet.folder)
    except client.ClientError as error:
        say(f"handshakes are left out: {error}")
        return []
    # Each server has one certificate, so there is one server for each kind of key.
    for kind in KINDS:
        runnings = fleet.start_all(peers, kind)
        todo = [(running, way) for way in WAYS for running in runnings]
        for running, way in list(todo):
            with fleet.awake(running):
                try:
                    sample(fleet, running, way, settings, max(1, round(settings.warm_up * running.peer.warmth)))
                except client.ClientError as error:
                    say(f"left out: {running.peer.name}, {kind}, {way}: {error}")
                    todo.remove((running, way))
        for number in range(settings.rounds):
            for running, way in in_turn(todo, number):
                with fleet.awake(running):
                    try:
                        taken = sample(fleet, running, way, settings, settings.seconds)
                    except client.ClientError as error:
                        say(f"a sample is lost: {running.peer.name}, {kind}, {way}: {error}")
                        continue
                figures.add(running.peer, (kind, way), number, taken)
                say(f"round {number + 1}, {kind}, {way}, {running.peer.name}: {taken['cpu']:.0f} us")
        fleet.stop()
    return section(figures, peers, settings)


def section(figures, peers, settings):
    rows = []
    for kind, key in KINDS.items():
        for way, title in WAYS.items():
            for peer in peers:
                taken = figures.of(peer, (kind, way))
                if taken:
                    rows.append([
                        f"{key}, {title}", peer.title, figure(taken, "rate", 0), figure(taken, "cpu", 0),
                        figure(taken, "per_cpu", 0, spread=False),
                        ratio_of(figures, peer, (kind, way), "nginx", (kind, way), "per_cpu"),
                        figure(taken, "busy", 2, spread=False), taken[0]["parameters"],
                    ])
    return [
        "### Handshakes",
        "",
        paragraph(f"""
            TLS 1.3, {settings.connections} at once, {rounds(settings.rounds)} of {settings.seconds} s. Each
            handshake has a connection of its own, without a request, and is counted when the server has closed the
            connection. A handshake costs a client as much as a server. If *busy* is well below 1, the client was the limit:
            compare *CPU*, the server's processor time for a handshake in microseconds, or *per second of CPU*, the
            handshakes in one second of that time. *Ratio* is *per second of CPU* divided by that of nginx in the same round."""),
        "",
        *table(["certificate", "server", "handshakes/s", "CPU", "per second of CPU", "ratio", "busy", "parameters"],
               rows, text=2),
        "",
    ]
