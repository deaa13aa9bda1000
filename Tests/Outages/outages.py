#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Breaks the service behind a RemoteRealm in several ways, and tests that logins in another realm are served as before.

    outages.py PROGRAM

PROGRAM is the server binary. Environment: GATEHOUSE_OUTAGE_ROUNDS (5), GATEHOUSE_OUTAGE_SECONDS (4, for each state of the service).

One client signs in to a local realm every 5 ms. Other clients sign in to the remote realm at a fixed rate. The states of the service
alternate in each round. Printed is the 99th percentile of the local logins in each state, and its ratio to the state in which the service
is healthy (medians over the rounds). Every answer of the remote realm is checked: 200 for the right password if the service is healthy, 401
for a wrong one, and 503 in all other states. Requires Python 3.9, openssl and Linux.
"""

import multiprocessing
import os
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Server"))

from server import Client, Folder, Server, bound, quantile, request, status_of  # noqa: E402

ROUNDS = int(os.environ.get("GATEHOUSE_OUTAGE_ROUNDS", "5"))
SECONDS = float(os.environ.get("GATEHOUSE_OUTAGE_SECONDS", "4"))
STATES = ["healthy", "down", "hanging", "slow", "half-closing", "garbage", "endless"]
FACTOR = 1.1
# Below this time in milliseconds the factor is not required: differences are those of the scheduler.
BOUND_MS = 3.0
# The rate of logins in the remote realm, and their greatest number at a time.
EACH, AT_ONCE = 0.02, 32

CONFIGURATION = """
login remoteRealm { RemoteLoginModule required; }
login local { ScriptedLoginModule required password="right"; }
realm remote { class RemoteRealm; url https://localhost:PORT/check; ca-file ca.pem; timeout 500ms; connect-timeout 500ms; }
realm local { class StackRealm; jaas-context local; }
server { listen 127.0.0.1:0; access-log off; credential-cache 0s; throttle { failures 1000; source-failures 0; delay 0s; } }
protect /remote { realm remote; auth basic; require any; }
protect /local { realm local; auth basic; require any; }
"""


def serve(port, folder, state):
    """The service behind the remote realm, in a process of its own. `state` is an index of STATES."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/ca.pem", f"{folder}/ca.key")

    def answer(plain):
        try:
            name = STATES[state.value]
            if name == "hanging":
                time.sleep(5)
                return
            if name == "down":
                return
            with context.wrap_socket(plain, server_side=True) as tls:
                while True:
                    head = b""
                    while b"\r\n\r\n" not in head:
                        more = tls.recv(4096)
                        if not more:
                            return
                        head += more
                    if STATES[state.value] != name and name == "healthy":
                        # The state has changed since the connection was accepted.
                        return
                    name = STATES[state.value]
                    if name == "healthy":
                        # ann:right in base64
                        status = b"200 OK" if b"YW5uOnJpZ2h0" in head else b"401 Unauthorized"
                        tls.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}")
                    elif name == "slow":
                        time.sleep(2)
                        return
                    elif name == "half-closing":
                        tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
                        plain.shutdown(socket.SHUT_WR)
                        return
                    elif name == "garbage":
                        tls.sendall(os.urandom(64))
                        return
                    elif name == "endless":
                        tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
                        for _ in range(64):
                            tls.sendall(b" " * 65536)
                        return
                    else:
                        return
        except (OSError, ssl.SSLError):
            pass
        finally:
            plain.close()

    listener = socket.create_server(("127.0.0.1", port), backlog=256)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def measure(port, orders):
    """Runs in a process of its own. For each order, a number of seconds, it signs in every 5 ms and returns the times."""
    bound()()
    data = request("ann", "right", "/local")
    with Client(port) as client:
        while True:
            seconds = orders.recv()
            if seconds is None:
                return
            times, next_at, until = [], time.monotonic(), time.monotonic() + seconds
            while time.monotonic() < until:
                time.sleep(max(0.0, next_at - time.monotonic()))
                next_at = max(next_at + 0.005, time.monotonic())
                began = time.monotonic()
                status = status_of(client.ask(data))
                times.append(time.monotonic() - began)
                if status != 200:
                    raise SystemExit(f"the local realm answered {status}")
            orders.send(times)


def load(port, orders):
    """Runs in a process of its own. For each order, it signs in to the remote realm, and returns the number of each status."""
    bound()()
    while True:
        seconds = orders.recv()
        if seconds is None:
            return
        counts, lock, slots = {}, threading.Lock(), threading.Semaphore(AT_ONCE)

        def ask(password):
            try:
                with Client(port) as client:
                    key = (password, status_of(client.ask(request("ann", password, "/remote"))))
            except OSError as error:
                key = (password, str(error))
            with lock:
                counts[key] = counts.get(key, 0) + 1
            slots.release()

        threads, until, number = [], time.monotonic() + seconds, 0
        while time.monotonic() < until:
            if slots.acquire(timeout=0.01):
                number += 1
                threads.append(threading.Thread(target=ask, args=("wrong" if number % 4 == 0 else "right",)))
                threads[-1].start()
            time.sleep(EACH)
        for thread in threads:
            thread.join()
        orders.send(counts)


def main():
    program = sys.argv[1]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        service_port = probe.getsockname()[1]
    with Folder(program, CONFIGURATION.replace("PORT", str(service_port)), "outages") as folder:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{folder.path}/ca.key",
             "-out", f"{folder.path}/ca.pem"], check=True, capture_output=True)
        state = multiprocessing.Value("i", 0)
        service = multiprocessing.Process(target=serve, args=(service_port, folder.path, state), daemon=True)
        service.start()
        with Server(folder) as server:
            pipes = []
            for work in (measure, load):
                here, there = multiprocessing.Pipe()
                multiprocessing.Process(target=work, args=(server.port, there), daemon=True).start()
                pipes.append(here)
            measured, loaded = pipes
            results, wrong = {name: [] for name in STATES}, []
            for number in range(ROUNDS):
                for index in range(len(STATES)):
                    name = STATES[(index + number) % len(STATES)]
                    state.value = STATES.index(name)
                    # Connections of the state before end here: the service closes them, or their time is up.
                    time.sleep(1.0)
                    loaded.send(SECONDS)
                    measured.send(SECONDS)
                    results[name].append(quantile(measured.recv(), 0.99) * 1000)
                    counts = loaded.recv()
                    expected = {"right": 200, "wrong": 401} if name == "healthy" else {"right": 503, "wrong": 503}
                    for (password, status), count in counts.items():
                        if status != expected[password]:
                            wrong.append(f"{name}: {count} logins with the {password} password got {status}")
            for pipe in pipes:
                pipe.send(None)
            log = server.log
        healthy = statistics.median(results["healthy"])
        failed = list(wrong)
        print(f"{'service':14} {'p99 of local logins':>20} {'ratio':>6}")
        for name in STATES:
            value = statistics.median(results[name])
            print(f"{name:14} {value:17.2f} ms {value / healthy:6.2f}")
            if value > BOUND_MS and value > FACTOR * healthy:
                failed.append(f"{name}: {value:.2f} ms is more than {FACTOR} times {healthy:.2f} ms")
        if "right" in log or "YW5u" in log:
            failed.append("the log contains a password")
        causes = [line for line in log.splitlines() if "remote" in line]
        print(f"{len(causes)} log lines about the remote realm, such as: {causes[-1] if causes else 'none'}")
        if not causes:
            failed.append("the log does not name the outage")
        service.kill()
        for text in failed:
            print(f"FAILED: {text}")
        sys.exit(1 if failed else 0)


main()
