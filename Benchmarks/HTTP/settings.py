# SPDX-License-Identifier: Apache-2.0
"""The settings of a run, from environment variables."""

import os
import sys
from dataclasses import dataclass

PARTS = ("throughput", "handshakes", "memory")


@dataclass(frozen=True)
class Settings:
    """The settings of a run. Times are in seconds."""

    parts: tuple
    peers: tuple
    rounds: int
    seconds: float
    warm_up: float
    connections: int
    idle: tuple
    memory_rounds: int
    server_core: int
    load_core: int
    output: str
    quick: bool

    @staticmethod
    def from_environment(known_peers, usual_peers):
        """Reads BENCH_*. An invalid value ends the program with status 2."""
        quick = os.environ.get("BENCH_QUICK", "") not in ("", "0")
        cores = sorted(os.sched_getaffinity(0))
        return Settings(
            parts=_words("BENCH_ONLY", PARTS, PARTS),
            peers=_words("BENCH_PEERS", known_peers, usual_peers),
            rounds=_number("BENCH_ROUNDS", 1 if quick else 5),
            seconds=_number("BENCH_SECONDS", 1 if quick else 3),
            warm_up=_number("BENCH_WARM_UP", 2 if quick else 10),
            connections=_number("BENCH_CONNECTIONS", 32),
            idle=tuple(int(n) for n in _list("BENCH_IDLE", "200" if quick else "1000,10000")),
            memory_rounds=_number("BENCH_MEMORY_ROUNDS", 1 if quick else 3),
            server_core=_core("BENCH_SERVER_CORE", cores, cores[-1]),
            load_core=_core("BENCH_LOAD_CORE", cores, cores[0]),
            output=os.environ.get("BENCH_OUTPUT", ""),
            quick=quick,
        )


def refuse(text):
    """Ends the program because of a wrong setting, with status 2."""
    print(f"bench-http: {text}", file=sys.stderr)
    sys.exit(2)


def _list(name, default):
    return [word for word in os.environ.get(name, default).replace(",", " ").replace("|", " ").split() if word]


def _words(name, allowed, default):
    words = _list(name, " ".join(default))
    for word in words:
        if word not in allowed:
            refuse(f"{name}: there is no {word}; there are {' '.join(allowed)}")
    return tuple(words)


def _number(name, default):
    text = os.environ.get(name, str(default))
    if not text.isdigit() or int(text) < 1:
        refuse(f"{name} must be a whole number of at least 1, not {text}")
    return int(text)


def _core(name, cores, default):
    text = os.environ.get(name, str(default))
    if not text.isdigit() or int(text) not in cores:
        refuse(f"{name}: there is no core {text}; there are {' '.join(map(str, cores))}")
    return int(text)
