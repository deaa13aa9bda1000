#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes one of two servers of users away during many logins, and tests that no login notices.

    failover.py PROGRAM [REALM...]

PROGRAM is the server binary, REALM a class; all by default. Environment: GATEHOUSE_FAILOVER_LOGINS (10000, for each state).

Clients sign in to an LDAPRealm with two directory servers (slapd), and to an SQLRealm with a PostgreSQL server and its standby. After a
fifth of the logins the first server fails, and after three fifths it comes back. Every tenth login has a wrong password, each for a user
of its own. Another client signs in to a FileRealm every 5 ms. The states: nothing happens; the server is killed, and the standby of
PostgreSQL promoted; it is stopped (SIGSTOP); its packets are dropped in both directions (requires root, because the server then has a
network of its own). These are tested in each state:

- Every right password is accepted with its group, and every wrong one is rejected.
- No other attempt counts: an account is locked after one failed login, and exactly the users with a wrong password are locked.
- At most one login for each connection of the pool takes as long as a time limit.
- The second server answers the logins meanwhile, and the first one answers logins again afterwards.
- The 99th percentile of the logins in the FileRealm, which is printed with its ratio to the time before the failure. It fails only
  above a bound that no busy machine explains.

Requires Python 3.9, Linux, and slapd or PostgreSQL with openssl; iproute2 and util-linux for dropped packets.
"""

import base64
import hashlib
import multiprocessing
import os
import re
import sys
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Server"))

from databases import Databases  # noqa: E402
from directories import Directories  # noqa: E402
from network import free_port  # noqa: E402
from server import Client, Folder, Server, bound, quantile, request, status_of  # noqa: E402

LOGINS = int(os.environ.get("GATEHOUSE_FAILOVER_LOGINS", "10000"))
# The connections of the pool, and as many clients: no login waits for a connection.
POOL = 8
# The time limits of the realm for a step, in seconds: so long that a busy machine explains no login that takes nine tenths of it.
LIMIT = 3.0
# The users who sign in with the right password.
USERS = 500
# The longest time after which the first server must get logins again.
BACK_SECONDS = 30.0
# A local login above this time in milliseconds is a failure.
BOUND_MS = 2000.0

CONFIGURATION = """
login local { FileLoginModule required; }
realm local { class FileRealm; file users; jaas-context local; }
server {
    listen 127.0.0.1:0;
    metrics { listen 127.0.0.1:METRICS; }
    access-log off;
    credential-cache 0s;
    throttle { failures 1; lock 1d; source-failures 0; delay 0s; }
}
protect /local { realm local; auth basic; require any; }
"""


# Each has the name of its realm, its states, its two servers with the numbers of their logins, and its part of the configuration.
LANES = [Directories, Databases]


def measure(port, orders):
    """Runs in a process of its own. Between two orders, it signs in every 5 ms and returns the moments and times."""
    bound()()
    data = request("ann", "right", "/local")
    with Client(port) as client:
        while orders.recv():
            times, next_at = [], time.monotonic()
            while not orders.poll():
                time.sleep(max(0.0, next_at - time.monotonic()))
                next_at = max(next_at + 0.005, time.monotonic())
                began = time.monotonic()
                status = status_of(client.ask(data))
                times.append((began, time.monotonic() - began))
                if status != 200:
                    raise SystemExit(f"the local realm answered {status}")
            orders.recv()
            orders.send(times)


def load(port, orders, done):
    """Runs in a process of its own. For each order, the number of a first user for wrong passwords, it makes the logins."""
    bound()()
    while True:
        first = orders.recv()
        if first is None:
            return
        results, lock = [], threading.Lock()

        def ask(source):
            client = None
            while True:
                with lock:
                    number = done.value
                    if number >= LOGINS:
                        break
                    done.value += 1
                is_right = number % 10 != 0
                name = f"user{number % USERS}" if is_right else f"user{first + number // 10}"
                began = time.monotonic()
                try:
                    client = client or Client(port, source)
                    status = status_of(client.ask(request(name, "right" if is_right else "wrong", "/users")))
                except OSError as error:
                    status, client = str(error), None
                with lock:
                    results.append((is_right, status, time.monotonic() - began))

        # One address may hold half of the connections only.
        threads = [threading.Thread(target=ask, args=(f"127.0.1.{number + 1}",)) for number in range(POOL)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        orders.send(results)


def start(work, *arguments):
    """Starts a process, and returns a pipe to it."""
    here, there = multiprocessing.Pipe()
    multiprocessing.Process(target=work, args=(arguments[0], there, *arguments[1:]), daemon=True).start()
    return here


class Test:
    """The states of one lane, and their results."""

    def __init__(self, lane, folder, server, metrics):
        self.lane, self.folder, self.server, self.metrics = lane, folder, server, metrics
        self.done = multiprocessing.Value("i", 0)
        self.measured, self.loaded = start(measure, server.port), start(load, server.port, self.done)
        self.failed, self.rows = [], []

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return sum(float(value) for value in re.findall(rf"^{name} (\S+)$", text, re.MULTILINE))

    def counted(self):
        """The accounts that were locked, and the logins that were answered as unavailable."""
        return (self.metric(r'gatehouse_lockouts_total\{kind="account"\}'),
                self.metric(r'gatehouse_logins_total\{[^}]*outcome="unavailable"[^}]*\}'))

    def until_done(self, part):
        while self.done.value < LOGINS * part:
            time.sleep(0.005)
        return time.monotonic()

    def until_back(self):
        """Waits until the first server gets logins again; returns the seconds, or None.

        A server that was stopped first reads what had reached it before, at most one login of each connection.
        """
        server, port = self.lane.servers[0], self.server.port
        before, began = server.logins, time.monotonic()
        while time.monotonic() < began + BACK_SECONDS:
            if server.logins > before + POOL:
                return time.monotonic() - began
            if self.done.value >= LOGINS:
                with Client(port) as client:
                    client.ask(request("user1", "right", "/users"))
            time.sleep(0.02)
        return None

    def run(self, state, wrong):
        """Makes the logins of one state. `wrong` is the number of its first user for wrong passwords."""
        def check(is_good, text):
            if not is_good:
                self.failed.append(f"{self.lane.name}, {state}: {text}")

        fail, recover = self.lane.states[state]
        locked, unavailable = self.counted()
        self.done.value = 0
        self.measured.send(True)
        self.loaded.send(wrong)
        began = time.monotonic()
        # The first logins open the connections.
        opened_at = self.until_done(0.1)
        failed_at = self.until_done(0.2)
        served = [server.logins for server in self.lane.servers]
        fail()
        recovered_at = self.until_done(0.6)
        recover()
        served = [server.logins - count for server, count in zip(self.lane.servers, served)]
        back = self.until_back()
        results = self.loaded.recv()
        rate = len(results) / (time.monotonic() - began)
        self.measured.send(False)
        local = self.measured.recv()

        right = [status for is_right, status, _ in results if is_right]
        others = [status for is_right, status, _ in results if not is_right]
        refused, accepted = sum(status != 200 for status in right), sum(status == 200 for status in others)
        check(refused == 0, f"{refused} logins with the right password got {set(right) - {200}}")
        check(accepted == 0, f"{accepted} logins with a wrong password were accepted")
        check(set(others) == {401}, f"logins with a wrong password got {set(others)}")
        now_locked, now_unavailable = self.counted()
        extra = round(now_locked - locked) - others.count(401)
        check(extra == 0, f"{extra} attempts too many have locked accounts")
        check(now_unavailable == unavailable, f"{now_unavailable - unavailable} logins were unavailable")
        slow = [seconds for _, _, seconds in results if seconds >= 0.9 * LIMIT]
        check(len(slow) <= POOL, f"{len(slow)} logins have waited for a server, more than {POOL}")
        check(back is not None, f"the first server got no login in {BACK_SECONDS:.0f} s")
        if state != "healthy":
            check(served[1] > LOGINS / 5, f"the second server answered {served[1]} logins only")
        p99 = [1000 * quantile([seconds for at, seconds in local if low <= at < high] or [0.0], 0.99)
               for low, high in ((opened_at, failed_at), (failed_at, recovered_at))]
        check(p99[1] <= BOUND_MS, f"a local login takes {p99[1]:.0f} ms, more than {BOUND_MS:.0f} ms")
        longest = max(seconds for _, _, seconds in results)
        self.rows.append(f"| {self.lane.name}, {state} | {len(results):,} | {rate:.0f}/s | {refused} | {accepted} | {extra} | {len(slow)} "
                         f"| {longest:.2f} s | {'-' if back is None else f'{back:.1f} s'} "
                         f"| {p99[0]:.1f} ms, {p99[1]:.1f} ms | {p99[1] / p99[0] if p99[0] else 0:.2f} |")

    def check_locks(self, wrong):
        """Tests that exactly the users with a wrong password are locked. `wrong` are their numbers."""
        # A running server writes its locks within a second.
        time.sleep(2)
        said = self.folder.must("lockouts", "list", "--all")
        found = re.findall(r"^account +(\S+)@users +(\d+) ", said, re.MULTILINE)
        expected = {(f"user{number}", "1") for number in wrong}
        if set(found) != expected:
            self.failed.append(f"{self.lane.name}: {len(set(found) - expected)} accounts are locked that should not be, "
                               f"{len(expected - set(found))} are missing: {sorted(set(found) ^ expected)[:5]}")


def test(program, kind):
    """Tests one lane. Returns its rows and its failures."""
    metrics = free_port()
    with Folder(program, "", "failover") as folder:
        each = (LOGINS + 9) // 10
        lane = kind(folder.path, (USERS, USERS + 4 * each), POOL, LIMIT)
        try:
            digest = base64.b64encode(hashlib.sha1(b"right").digest()).decode()
            with open(os.open(f"{folder.path}/users", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(f"ann:{{SHA}}{digest}\n")
            with open(folder.file, "w") as file:
                file.write(CONFIGURATION.replace("METRICS", str(metrics)) + lane.configuration)
            with Server(folder) as server:
                run = Test(lane, folder, server, metrics)
                for number, state in enumerate(lane.states):
                    run.run(state, USERS + number * each)
                run.check_locks(range(USERS, USERS + len(lane.states) * each))
                run.measured.send(False)
                run.loaded.send(None)
                log = server.log
        finally:
            lane.close()
        if run.failed:
            print('\n'.join(line for line in log.splitlines() if 'locked after' not in line)[-3000:])
        return run.rows, run.failed


def main():
    program = os.path.abspath(sys.argv[1])
    rows, failed = [], []
    for kind in LANES:
        if sys.argv[2:] and kind.name not in sys.argv[2:]:
            continue
        reason = kind.unavailable()
        if reason:
            print(f"skipped: {kind.name}, because {reason}")
            continue
        results = test(program, kind)
        rows += results[0]
        failed += results[1]
    print("| first of two servers | logins | rate | right password refused | wrong password accepted | other attempts counted "
          "| logins that waited | longest login | first server used again after | p99 of the other realm before, during | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    print("\n".join(rows))
    for text in failed:
        print(f"FAILED: {text}")
    sys.exit(1 if failed else 0)


main()
