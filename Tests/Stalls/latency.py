# SPDX-License-Identifier: Apache-2.0
"""Measures the p99 of requests in turn with and without 2,000 stalled connections."""

import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time

from client import AUTHORIZATION, GET, SHARED_CONTEXT
from server_process import LIMITS, Gatehouse

BOUND_MS, FACTOR = 5.0, 3.0
# A request every 5 ms: so few that they do not queue in the client.
EACH = 0.005


def paced(port, seconds):
    """The p99 in ms of one connection that sends a request every 5 ms."""
    times = []
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with SHARED_CONTEXT.wrap_socket(plain, server_hostname="localhost") as tls:
            begin = due = time.perf_counter()
            while due < begin + seconds:
                asked = time.perf_counter()
                tls.sendall(GET)
                answer = tls.recv(65536)
                while not answer.endswith(b"Welcome zed\n"):
                    more = tls.recv(65536)
                    if not more:
                        raise SystemExit(f"stalls: the measuring client was disconnected: {answer[:80]!r}")
                    answer += more
                times.append(time.perf_counter() - asked)
                if not answer.startswith(b"HTTP/1.1 200"):
                    raise SystemExit(f"stalls: the measuring client was rejected: {answer[:80]!r}")
                due = max(due + EACH, time.perf_counter() - 1)
                time.sleep(max(0, due - time.perf_counter()))
    return sorted(times)[int(len(times) * 0.99)] * 1000


def wrk(connections):
    """The p99 in ms of wrk, which sends the next request as soon as it has an answer."""
    def run(port, seconds):
        said = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-H", AUTHORIZATION.decode().strip(),
             f"https://127.0.0.1:{port}/welcome"], capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in said or "Socket errors" in said:
            raise SystemExit(f"stalls: the measuring client was not served:\n{said}")
        number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", said).groups()
        return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]
    return run


def prefer(process):
    """Gives all threads of a process priority over all other processes."""
    for thread in os.listdir(f"/proc/{process or 'self'}/task"):
        os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(1))


def stop_preferring():
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class CrowdProcess:
    """The process with the stalled connections. Entering waits until they are open.

    It has 10 % more connections than required, because a few are always being replaced.
    """

    def __init__(self, port, count, core):
        self.count = count
        self.state = (0, 0, 0)
        self.least = count
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "stalled_crowd.py"),
             str(port), str(count + count // 10), str(core)], preexec_fn=stop_preferring, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            self.state = tuple(int(word) for word in line.split())
            self.least = min(self.least, self.state[0])

    def __enter__(self):
        until = time.monotonic() + 120
        while self.state[0] < self.count:
            if time.monotonic() > until or self.process.poll() is not None:
                raise SystemExit(f"stalls: the {self.count} stalled connections could not be opened: held, replaced, failed: {self.state}")
            time.sleep(0.2)
        self.least = self.count
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def tcp_memory_mib():
    """The memory of the buffers of all TCP sockets, in MiB."""
    with open("/proc/net/sockstat") as file:
        pages = int(re.search(r"^TCP:.* mem (\d+)", file.read(), re.MULTILINE).group(1))
    return pages * os.sysconf("SC_PAGE_SIZE") // (1 << 20)


def measure(program, count, rounds, seconds, server_core, client_core, realtime):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    loads = {"paced, 1 connection, 200/s": paced}
    if shutil.which("wrk"):
        loads["wrk, 1 connection"] = wrk(1)
        # Eight connections use a whole core, and the kernel throttles a process with realtime priority that does so.
        if not realtime:
            loads["wrk, 8 connections"] = wrk(8)
    else:
        print("wrk is not installed: only the paced client is measured")
    alone, beside = {name: [] for name in loads}, {name: [] for name in loads}
    os.sched_setaffinity(0, {client_core})
    LIMITS.others = {"connections": 2 * count, "connections_per_address": 2 * count}
    with Gatehouse(program, LIMITS, server_core) as server:
        if realtime:
            prefer(server.process.pid)
            prefer(0)
        for index in range(rounds):
            for name, load in loads.items():
                alone[name].append(load(server.port, seconds))
            memory = server.resident_kib()
            with CrowdProcess(server.port, count, client_core) as pool:
                for name, load in loads.items():
                    beside[name].append(load(server.port, seconds))
                grown = server.resident_kib() - memory
                print(f"round {index + 1}: load average {os.getloadavg()[0]:.2f}; crowd held at least {pool.least},"
                      f" replaced {pool.state[1]}, failed {pool.state[2]}; server +{grown // 1024} MiB,"
                      f" TCP buffers {tcp_memory_mib()} MiB; p99 ms alone/beside: "
                      + ", ".join(f"{alone[name][-1]:.2f}/{beside[name][-1]:.2f}" for name in loads), flush=True)
            time.sleep(1)
    passed = failed = 0
    for name in loads:
        before, after = statistics.median(alone[name]), statistics.median(beside[name])
        # Fails only beyond both bounds, because on a busy machine the p99 may exceed any fixed bound.
        good = not (after >= BOUND_MS and after > FACTOR * before)
        passed, failed = passed + good, failed + (not good)
        print(f"p99 {name:28} median of {rounds}: alone {before:6.2f} ms, beside {count} stalled {after:6.2f} ms"
              f"  {'ok' if good else 'FAILED'}{'' if after < BOUND_MS else f' (over {BOUND_MS:.0f} ms)'}")
    return passed, failed
