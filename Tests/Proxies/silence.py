# SPDX-License-Identifier: Apache-2.0
"""Tests of event streams and WebSockets that are silent for a minute. They run beside the other tests of a proxy, because they only wait."""

import os
import tempfile
import threading
import time

import scenarios
import streams
from proxy_fixture import NAME, OPEN_HOST, SIGN_IN_HOST, WIKI, Gatehouse, certificate
from scenarios import expect
from streaming_application import StreamingApplication


class Silence(threading.Thread):
    """Opens streams at its start, and reports after a little more than a minute."""

    def __init__(self, kind, program, folder):
        super().__init__(daemon=True)
        self.kind, self.program = kind, program
        self.folder = tempfile.mkdtemp(dir=folder)
        os.chmod(self.folder, 0o755)
        self.seconds, self.error = {}, None
        self.start()

    def run(self):
        try:
            with Gatehouse(self.program) as gatehouse, StreamingApplication() as application:
                names = certificate(self.folder, NAME, OPEN_HOST, WIKI, SIGN_IN_HOST)
                with self.kind(self.folder, gatehouse, application, names) as proxy:
                    self.watch(scenarios.Place(proxy, gatehouse, application))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the scenario
            self.error = error

    def watch(self, place):
        """Notes after how many seconds each stream has ended. A stream that is open after 75 seconds is not noted."""
        opened = {name: streams.Request(place, f"/shared/events?{name}") for name in ("events", "active-events")}
        for name, request in opened.items():
            expect(request.contains(b'"ann"'), f"{name} has not begun")
        for name in ("socket", "active-socket"):
            client, answer = streams.open_socket(place, name)
            expect(answer is not None and answer.status == 101, answer)
            opened[name] = client
        began = time.monotonic()
        last = 0
        while (now := time.monotonic() - began) < 75:
            if now - last > 15:
                # Only the application sends something on the active streams.
                last = now
                for name in ("active-events", "active-socket"):
                    place.application.push(name, "ping")
            for name in opened:
                stream = place.application.streams[name]
                if stream.has_ended:
                    self.seconds.setdefault(name, now)
            time.sleep(0.2)
        place.close()

    def close(self):
        """The thread closes its streams itself."""

    def scenario(self):
        def streams_that_are_silent_for_a_minute_are_closed_by_nginx_and_haproxy(_):
            self.join(120)
            if self.error is not None:
                raise self.error
            for name in ("events", "socket"):
                ended = self.seconds.get(name)
                if self.kind.title == "caddy":
                    expect(ended is None, f"{name} has ended after {ended} s")
                else:
                    expect(ended is not None and 55 < ended < 70, f"{name} has ended after {ended} s")
            for name in ("active-events", "active-socket"):
                expect(name not in self.seconds, f"{name} has ended after {self.seconds.get(name)} s")
        return streams_that_are_silent_for_a_minute_are_closed_by_nginx_and_haproxy
