#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whether the time of a rejected login reveals the reason.

    timing.py PROGRAM

PROGRAM is the server binary. Environment: GATEHOUSE_TIMING_TRIES (3000 for each kind), GATEHOUSE_TIMING_SEED, and GATEHOUSE_PREFER=1
(requires root), which gives server and client priority over all other processes.

One connection sends each kind of guess once in a round, in random order. Server and client have a core each. The times from a request to
its complete answer are compared by Welch's t between any two kinds. The bound is |t| < 4.5, as in TVLA and dudect.

Two corrections reduce the noise of the machine. The median of its round is subtracted from each time, because a machine may be slower for
seconds. Then the 10 % of all times that are farthest from it are dropped, with one threshold for all kinds, because a few such times would
outweigh the difference that is measured. The corrections do not increase t, but they might hide a difference. Therefore guesses at a realm
whose hashes cost 5 % more must be detected, otherwise the test fails. One kind is measured twice and must not differ from itself. Apart from
the date, the bytes of all answers must be the same.
"""

import base64
import itertools
import math
import os
import random
import re
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Server"))

from server import PREFERRED, Client, Folder, Server, bound, request  # noqa: E402

TRIES = int(os.environ.get("GATEHOUSE_TIMING_TRIES", "3000"))
SEED = int(os.environ.get("GATEHOUSE_TIMING_SEED", str(int(time.time()))))
BOUND, KEPT = 4.5, 0.9

CONFIGURATION = """
default-realm people;
login storeRealm {{ StoreLoginModule required; }};
realm people {{ class StoreRealm; rehash false; }}
realm mixed {{ class StoreRealm; rehash false; }}
realm dearer {{ class StoreRealm; rehash false; }}
passwords {{ hash argon2id memory={memory}KiB passes=1; minimum-length 4; workers 1; memory 64MiB; }}
server {{
    listen 127.0.0.1:0; state var; access-log off; credential-cache 0s;
    throttle {{ delay {delay}; longest-delay {delay}; failures {failures}; source-failures 0; }}
}}
protect /welcome {{ realm people; auth basic; require any; }}
protect /mixed {{ realm mixed; auth basic; require any; }}
protect /dearer {{ realm dearer; auth basic; require any; }}
"""
MEMORY_KIB = 1024

# All names and passwords have the same length, so that all requests have the same length.
RIGHT = "right-00"
# The password RIGHT in two other formats: salted SHA-1, and bcrypt with the lowest cost.
MIXED = """ssha0000:{ssha}
bcrypt00:{bcrypt}
"""
BCRYPT = "$2b$04$abcdefghijklmnopqrstuuv.gIUr2wIwNq4.w9oF4GV5d4WUGo.kS"


def wrong():
    return f"wr-{random.randrange(10 ** 5):05}"


def unknown():
    return f"un{random.randrange(10 ** 6):06}"


def kinds_of_people():
    def any_of(stem):
        return f"{stem}{random.randrange(10)}"
    return {
        "wrong password": lambda: request(any_of("known00"), wrong()),
        "the same again": lambda: request(any_of("known00"), wrong()),
        "unknown user": lambda: request(unknown(), wrong()),
        "disabled, right": lambda: request("disabled", RIGHT),
        "disabled, wrong": lambda: request("disabled", wrong()),
        "expired, right": lambda: request("expired0", RIGHT),
        "expired, wrong": lambda: request("expired0", wrong()),
        "must change, right": lambda: request("mustchng", RIGHT),
        "must change, wrong": lambda: request("mustchng", wrong()),
        "no password": lambda: request("nopasswd", wrong()),
        "in three groups": lambda: request("grouped0", wrong()),
        "empty password": lambda: request(any_of("known00"), ""),
        "empty, unknown user": lambda: request(unknown(), ""),
        MORE: lambda: request("dearer00", wrong(), "/dearer"),
        "success": lambda: request(any_of("known00"), RIGHT),
    }


def kinds_of_mixed():
    return {
        "wrong, argon2id": lambda: request("argon200", wrong(), "/mixed"),
        "the same again": lambda: request("argon200", wrong(), "/mixed"),
        "wrong, {SSHA}": lambda: request("ssha0000", wrong(), "/mixed"),
        "wrong, bcrypt": lambda: request("bcrypt00", wrong(), "/mixed"),
        "unknown user": lambda: request(unknown(), wrong(), "/mixed"),
        "disabled argon2id, right": lambda: request("disabled", RIGHT, "/mixed"),
        "no password": lambda: request("nopasswd", wrong(), "/mixed"),
        "empty, bcrypt": lambda: request("bcrypt00", "", "/mixed"),
        "success, bcrypt": lambda: request("bcrypt00", RIGHT, "/mixed"),
    }


def kinds_of_locked():
    return {
        "wrong password": lambda: request("known000", wrong()),
        "the same again": lambda: request("known000", wrong()),
        "unknown user": lambda: request(unknown(), wrong()),
        "locked, right": lambda: request("locked00", RIGHT),
        "locked, wrong": lambda: request("locked00", wrong()),
        "locked unknown user": lambda: request("nobody00", wrong()),
        MORE: lambda: request("dearer00", wrong(), "/dearer"),
        "success": lambda: request("known001", RIGHT),
    }


# The kind that must be detected, and the kinds that may differ.
MORE = "5 % more work"
DIFFERENT = (MORE, "success")


def measure(port, kinds, tries):
    """Returns the times of each kind in nanoseconds, and its answers without the date."""
    times, answers = {name: [] for name in kinds}, {}
    order = list(kinds)
    with Client(port) as client:
        for turn in range(tries + 50):
            random.shuffle(order)
            for name in order:
                data = kinds[name]()
                began = time.perf_counter_ns()
                answer = client.ask(data)
                took = time.perf_counter_ns() - began
                # The first requests are slower, because caches are empty.
                if turn >= 50:
                    times[name].append(took)
                answers.setdefault(name, set()).add(re.sub(rb"(?i)\r\ndate: [^\r]*", b"", answer))
    return times, answers


def levelled(times, same):
    """Subtracts the median of its round from each time, and drops the 10 % that are farthest from it."""
    medians = [statistics.median(values) for values in zip(*(times[name] for name in same))]
    level = {name: [value - median for value, median in zip(values, medians)] for name, values in times.items()}
    farthest = sorted(abs(value) for name in same for value in level[name])[int(len(medians) * len(same) * KEPT)]
    return {name: [value for value in values if abs(value) < farthest] for name, values in level.items()}


def welch(one, other):
    spread = statistics.variance(one) / len(one) + statistics.variance(other) / len(other)
    return (statistics.fmean(one) - statistics.fmean(other)) / math.sqrt(spread)


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, text, good):
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(f"    {text}  {'ok' if good else 'FAILED'}", flush=True)


def judge(title, port, kinds, results, is_lock_open=False):
    began = time.monotonic()
    times, answers = measure(port, kinds, TRIES)
    print(f"{title}: {TRIES} tries of each kind in {time.monotonic() - began:.0f} s")
    # The median and the threshold are computed from the kinds that must be the same.
    same = [name for name in times if not name.startswith(DIFFERENT)]
    level = levelled(times, same)
    kept = {name: level[name] for name in same}
    first = same[0]
    for name, values in level.items():
        print(f"    {name:26} median {statistics.median(times[name]) / 1000:8.1f} us; {len(values)} kept, mean"
              f" {statistics.fmean(values) / 1000:6.1f} us from the median of the round, t against the first"
              f" {welch(values, level[first]):6.2f}")
    pairs = {pair: welch(kept[pair[0]], kept[pair[1]]) for pair in itertools.combinations(kept, 2)}
    itself = pairs.pop((first, "the same again"))
    results.check(f"the first kind against itself: t {itself:.2f}", abs(itself) < BOUND)
    if is_lock_open:
        apart = {pair: t for pair, t in pairs.items() if pair[0].startswith("locked") != pair[1].startswith("locked")}
        pairs = {pair: t for pair, t in pairs.items() if pair not in apart}
        worst = max(apart, key=lambda pair: abs(apart[pair]))
        print(f"    {len(apart)} pairs with one locked account, not checked: the greatest |t| {abs(apart[worst]):.2f}: "
              f"{worst[0]} / {worst[1]}")
    over = {pair: t for pair, t in pairs.items() if abs(t) >= BOUND}
    worst = max(pairs, key=lambda pair: abs(pairs[pair]))
    results.check(f"{len(pairs)} pairs, the greatest |t| {abs(pairs[worst]):.2f}: {worst[0]} / {worst[1]}", not over)
    for pair, t in sorted(over.items(), key=lambda entry: -abs(entry[1])):
        print(f"        {pair[0]} / {pair[1]}: t {t:.2f}")
    # A successful login may take another time.
    if MORE in level:
        t = welch(level[MORE], level[first])
        results.check(f"{MORE}, which must be detected: t {t:.2f}", t >= BOUND)
    texts = set().union(*(answers[name] for name in same))
    results.check(f"different answers of all {len(same)} kinds, without the date: {len(texts)}", len(texts) == 1
                  and next(iter(texts)).startswith(b"HTTP/1.1 401"))
    for text in texts if len(texts) > 1 else ():
        who = ", ".join(name for name in same if text in answers[name])
        print(f"        {who}: {text!r}")


def prepare(folder):
    for name in [f"known00{n}" for n in range(10)] + ["locked00"]:
        folder.add(name, RIGHT)
    folder.add("disabled", RIGHT, "--disabled")
    folder.add("expired0", RIGHT, "--expires", "2020-01-31")
    folder.add("mustchng", RIGHT, "--must-change")
    folder.must("user", "add", "nopasswd", "--no-password")
    folder.add("grouped0", RIGHT, *(word for number in range(3) for word in ("--group", f"group{number}")))
    folder.add("argon200", RIGHT, "--realm", "mixed")
    folder.add("disabled", RIGHT, "--realm", "mixed", "--disabled")
    folder.must("user", "add", "nopasswd", "--no-password", "--realm", "mixed")
    import hashlib
    ssha = "{SSHA}" + base64.b64encode(hashlib.sha1(RIGHT.encode() + b"saltsalt").digest() + b"saltsalt").decode()
    others = os.path.join(folder.path, "others")
    with open(others, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
        out.write(MIXED.format(ssha=ssha, bcrypt=BCRYPT))
    folder.must("user", "import", others, "--realm", "mixed")
    # One user gets a more expensive hash, by another configuration of the same realm.
    own = folder.file
    folder.file = os.path.join(folder.path, "dearer.conf")
    with open(folder.file, "w") as out:
        out.write(CONFIGURATION.format(memory=MEMORY_KIB * 105 // 100, failures=0, delay="0s"))
    folder.add("dearer00", RIGHT, "--realm", "dearer")
    folder.file = own


def lock(port, name, failures):
    with Client(port) as client:
        for _ in range(failures):
            client.ask(request(name, wrong()))
        if not client.ask(request(name, RIGHT)).startswith(b"HTTP/1.1 401"):
            sys.exit(f"{name} is not locked")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    random.seed(SEED)
    cores = sorted(os.sched_getaffinity(0))
    server_core, client_core = cores[0], cores[-1]
    os.sched_setaffinity(0, {client_core})
    bound(is_realtime=PREFERRED)()
    print(f"load average {os.getloadavg()[0]:.2f}; server on core {server_core}, client on core {client_core};"
          f" seed {SEED}", flush=True)
    results = Results()
    with Folder(program, CONFIGURATION.format(memory=MEMORY_KIB, failures=0, delay="0s"), "timing") as folder:
        prepare(folder)
        with Server(folder, {server_core}, PREFERRED) as server:
            judge("one format", server.port, kinds_of_people(), results)
            judge("three formats", server.port, kinds_of_mixed(), results)
        # More failures than the kinds that must not be locked will have, but few enough for the time of the test.
        failures = min(2 * TRIES + 200, 10000)
        # Without a delay, the work of counting is visible, and docs/lockout.md promises nothing. The promise is for a delay that is
        # longer than the check, as in the default settings.
        for delay, title in (("0s", "locked accounts, no delay"), ("4ms", "locked accounts, a delay of 4 ms")):
            with open(folder.file, "w") as out:
                out.write(CONFIGURATION.format(memory=MEMORY_KIB, failures=failures, delay="0s"))
            with Server(folder, {server_core}, PREFERRED) as server:
                for name in ("locked00", "nobody00"):
                    lock(server.port, name, failures)
            with open(folder.file, "w") as out:
                out.write(CONFIGURATION.format(memory=MEMORY_KIB, failures=failures, delay=delay))
            with Server(folder, {server_core}, PREFERRED) as server:
                kinds = kinds_of_locked()
                if delay != "0s":
                    # The delay would hide the first kind, and a success is not delayed.
                    del kinds[MORE], kinds["success"]
                judge(title, server.port, kinds, results, is_lock_open=delay == "0s")
            folder.must("lockouts", "clear", "--all")
    print(f"{results.passed} passed, {results.failed} failed")
    sys.exit(results.failed > 0)


main()
