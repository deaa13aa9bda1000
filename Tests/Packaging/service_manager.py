#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program as systemd runs a service, where there is no systemd.

It receives the notifications of the program (sd_notify(3)), passes listening sockets to it (sd_listen_fds(3)), and forwards SIGTERM,
SIGINT and SIGHUP. Each line of a notification is one line of the file of --notifications, after the seconds since the start.
The exit status is that of the program.
"""
import argparse
import os
import selectors
import signal
import socket
import sys
import tempfile
import time

KINDS = ("tcp", "tcp6", "udp", "unix", "connected", "bound", "file", "none")


def inherited(kind, folder):
    """Returns a descriptor of a kind; only tcp and tcp6 are what a server can use."""
    if kind == "file":
        return os.open("/dev/null", os.O_RDWR)
    if kind == "none":
        return None
    if kind == "unix":
        made = socket.socket(socket.AF_UNIX)
        made.bind(f"{folder}/listen")
        made.listen()
    elif kind == "udp":
        made = socket.socket(type=socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
    elif kind == "tcp6":
        made = socket.create_server(("::1", 0), family=socket.AF_INET6)
    else:
        made = socket.socket() if kind == "bound" else socket.create_server(("127.0.0.1", 0))
        if kind == "connected":
            client = socket.create_connection(made.getsockname())
            made, _ = made.accept()
            os.dup(client.detach())
    return made.detach()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notifications", required=True, help="the file for the notifications")
    parser.add_argument("--abstract", action="store_true", help="use an abstract socket for the notifications")
    parser.add_argument("--watchdog", type=int, help="WATCHDOG_USEC")
    parser.add_argument("--socket", action="append", default=[], choices=KINDS, help="pass a descriptor to the program")
    parser.add_argument("--names", help="LISTEN_FDNAMES")
    parser.add_argument("--user", type=int, help="the number of the user and group that the program runs as")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    # Programs inherit the mask of the thread that starts them.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])

    with tempfile.TemporaryDirectory() as folder, open(options.notifications, "w") as report:
        os.chmod(folder, 0o755)
        address = f"@gatehouse-{os.getpid()}" if options.abstract else f"{folder}/notify"
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.bind("\0" + address[1:] if options.abstract else address)
        if not options.abstract:
            os.chmod(address, 0o777)
        passed = [inherited(kind, folder) for kind in options.socket]
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            start(options, address, passed)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(child, number))
        selector = selectors.DefaultSelector()
        selector.register(receiver, selectors.EVENT_READ)
        status = None
        while status is None:
            ready = selector.select(0.02)
            if not ready:
                done, wait = os.waitpid(child, os.WNOHANG)
                status = os.waitstatus_to_exitcode(wait) if done else None
                continue
            lines = receiver.recv(65536).decode().split("\n")
            # One write, so that a reader sees all lines of a message.
            report.write("".join(f"{time.monotonic() - begin:.3f} {line}\n" for line in lines))
            report.flush()
    sys.exit(status if status >= 0 else 128 - status)


def start(options, address, passed):
    """Replaces this process, a child, by the program."""
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        # The descriptors are moved out of the way first, because a target may be another's source.
        copies = [None if number is None else os.dup2(number, 100 + index) for index, number in enumerate(passed)]
        os.closerange(3, 100)
        for index, number in enumerate(copies):
            if number is not None:
                os.dup2(number, 3 + index, inheritable=True)
        os.closerange(100, 200)
        environment = dict(os.environ, NOTIFY_SOCKET=address)
        if options.watchdog is not None:
            environment |= {"WATCHDOG_USEC": str(options.watchdog), "WATCHDOG_PID": str(os.getpid())}
        if options.socket:
            environment |= {"LISTEN_FDS": str(len(passed)), "LISTEN_PID": str(os.getpid())}
        if options.names is not None:
            environment["LISTEN_FDNAMES"] = options.names
        if options.user is not None:
            os.setgroups([])
            os.setgid(options.user)
            os.setuid(options.user)
        os.execve(options.command[0], options.command, environment)
    except OSError as error:
        print(f"{options.command[0]}: {error}", file=sys.stderr)
    finally:
        os._exit(127)


if __name__ == "__main__":
    main()
