# SPDX-License-Identifier: Apache-2.0
"""Measures requests over kept connections: their rate, latency and processor time."""

import json
import os
import subprocess
from dataclasses import dataclass

from fleet import AUTHORIZATION, Client, say
from peers import HERE, PASSWORD, USER, WELCOME
from processes import pinned
from report import Figures, figure, in_turn, paragraph, ratio_of, rounds, table


@dataclass(frozen=True)
class RequestKind:
    """One kind of request, and the required answer."""

    name: str
    title: str
    path: str
    status: int
    authorization: str = None
    body: bytes = None
    has_session: bool = False
    others: tuple = ()

    def fields(self, running):
        """Returns the fields that a client sends with each request."""
        if self.authorization:
            return [f"Authorization: {self.authorization}", *self.others]
        if not self.has_session:
            return []
        if not hasattr(running, "cookie"):
            with Client(running.port) as client:
                running.cookie = client.begin_session("/session", USER, PASSWORD)
        return [f"Cookie: {running.cookie}"]


# The fields that nginx sends with a question about a request.
QUESTION = (
    "X-Original-URL: https://127.0.0.1/welcome",
    "X-Original-Method: GET",
    "X-Forwarded-For: 192.0.2.1",
)

REQUESTS = {
    request.name: request
    for request in (
        RequestKind("basic", "Basic, right password", "/welcome", 200, AUTHORIZATION, WELCOME),
        RequestKind("session", "session cookie", "/signed", 200, None, WELCOME, has_session=True),
        RequestKind("challenge", "401, no credentials", "/welcome", 401),
        RequestKind("index", "`/`, open", "/", 200),
        RequestKind("plain", "open, no file", "/plain", 200, None, WELCOME),
        RequestKind("question", "forward-auth question, Basic", "/auth/nginx", 200, AUTHORIZATION, b"", others=QUESTION),
        RequestKind("nothing", "204, open", "/nothing", 204, None, b""),
    )
}


class WrongAnswer(Exception):
    """The answer of the server is not the required one, so there is nothing to measure."""


def check(running, request, index):
    """Sends the request twice on one connection and checks the answers. Returns the cipher suite."""
    with Client(running.port) as client:
        for _ in range(2):
            try:
                status, fields, body = client.get(request.path, *request.fields(running))
            except OSError as error:
                raise WrongAnswer(f"{running.peer.name}, {request.name}: {error}") from error
            expected = index if request.name == "index" else request.body
            if status != request.status or (expected is not None and body != expected):
                raise WrongAnswer(f"{running.peer.name}, {request.name}: answers {status} {body[:60]!r}")
            if status == 401 and not fields.get("www-authenticate", "").lower().startswith("basic realm="):
                raise WrongAnswer(f"{running.peer.name}, {request.name}: no challenge with the 401")
        return client.cipher


def run_wrk(running, request, settings, seconds):
    """Runs wrk and returns its results. Raises a WrongAnswer if an answer was wrong or a connection broke."""
    command = ["wrk", "-t1", f"-c{settings.connections}", f"-d{seconds:g}s", "--latency",
               "-s", os.path.join(HERE, "client", "summary.lua")]
    for field in request.fields(running):
        command += ["-H", field]
    result = subprocess.run([*command, f"https://127.0.0.1:{running.port}{request.path}"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds + 60,
                            preexec_fn=pinned(settings.load_core))
    output = result.stdout.decode(errors="replace")
    lines = [line for line in output.splitlines() if line.startswith("SUMMARY ")]
    if result.returncode != 0 or not lines:
        raise WrongAnswer(f"{running.peer.name}, {request.name}: wrk failed: {output[-500:]}")
    summary = json.loads(lines[0][len("SUMMARY "):])
    # wrk counts every answer with a status from 400 on as an error. Here either all answers have such a status or none has.
    unexpected = summary["status"] != (summary["requests"] if request.status >= 400 else 0)
    if unexpected or any(summary[kind] for kind in ("connect", "read", "write", "timeout")) or not summary["requests"]:
        raise WrongAnswer(f"{running.peer.name}, {request.name}: wrk saw errors: {summary}")
    return summary


def sample(running, request, settings, index):
    cipher = check(running, request, index)
    before = running.service.cpu()
    summary = run_wrk(running, request, settings, settings.seconds)
    cpu = running.service.cpu() - before
    seconds = summary["microseconds"] / 1e6
    return {
        "rate": summary["requests"] / seconds,
        "p50": summary["p50"],
        "p99": summary["p99"],
        "cpu": cpu * 1e6 / summary["requests"],
        "busy": cpu / seconds,
        "bytes": summary["bytes"] / summary["requests"],
        "cipher": cipher,
    }


def measure(fleet, peers, settings):
    """Measures all servers and returns the section of the report about throughput."""
    runnings = fleet.start_all(peers)
    try:
        todo = [(running, REQUESTS[name]) for name in REQUESTS for running in runnings if name in running.peer.requests]
        for running, request in list(todo):
            with fleet.awake(running):
                try:
                    check(running, request, fleet.index)
                    run_wrk(running, request, settings, max(1, round(settings.warm_up * running.peer.warmth)))
                except WrongAnswer as error:
                    say(f"left out: {error}")
                    todo.remove((running, request))
        figures = Figures()
        for number in range(settings.rounds):
            for running, request in in_turn(todo, number):
                with fleet.awake(running):
                    try:
                        taken = sample(running, request, settings, fleet.index)
                    except WrongAnswer as error:
                        say(f"a sample is lost: {error}")
                        continue
                figures.add(running.peer, request.name, number, taken)
                say(f"round {number + 1}, {request.name}, {running.peer.name}: "
                    f"{taken['rate']:.0f}/s, {taken['cpu']:.1f} us")
    finally:
        fleet.stop()
    return section(figures, [running.peer for running in runnings], settings)


def section(figures, peers, settings):
    rows = []
    for request in REQUESTS.values():
        for peer in peers:
            taken = figures.of(peer, request.name)
            if not taken:
                continue
            rows.append([
                request.title, peer.title, figure(taken, "rate", 0), figure(taken, "p50", 0), figure(taken, "p99", 0),
                figure(taken, "cpu", 1), ratio_of(figures, peer, request.name, "nginx", "plain", "cpu"),
                figure(taken, "busy", 2, spread=False), figure(taken, "bytes", 0, spread=False),
                taken[0]["cipher"].replace("TLS_", "").replace("_SHA384", "").replace("_SHA256", ""),
            ])
    return [
        "### Requests over kept connections",
        "",
        paragraph(f"""
            TLS 1.3, {settings.connections} connections, wrk with one thread, {rounds(settings.rounds)} of
            {settings.seconds} s. Times in microseconds. *CPU* is the user and system time of all processes of the
            server, divided by the number of answers. *Ratio* is this time divided by that of nginx for an open answer without
            a file (`return 200`) in the same round. *Busy* is the share of its core that the server used. If it is well below 1, the load generator
            was the limit, and only CPU can be compared. *Bytes* is the size of an answer."""),
        "",
        *table(["request", "server", "requests/s", "p50", "p99", "CPU", "ratio", "busy", "bytes", "cipher"], rows,
               text=2),
        "",
    ]
