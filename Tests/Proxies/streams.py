# SPDX-License-Identifier: Apache-2.0
"""Tests of uploads, downloads, server-sent events and WebSockets, and of the end of a session during each of them.

docs/forward-auth-reference.md, "Uploads, events and WebSockets", and docs/sign-in.md, "What ends with a session", state what is tested here.
"""

import hashlib
import json
import os
import ssl
import subprocess
import time

import h2.events

from client import FETCH, NAVIGATION, SESSION, Answer, Connection
from http2_client import HTTP2
from proxy_fixture import NAME, PREFIX, identity_of
from scenarios import expect, expect_equal, expect_rejected, identity_fields
from upgrades import UpgradeConnection, frame, message, websocket

SCENARIOS = []
SIZE = 24_000_000
# An upload that is sent in two halves. Each half is larger than the buffers of the proxies and of the system.
HALF = b"0123456789abcdef" * 500_000


def scenario(function):
    SCENARIOS.append(function)
    return function


class Request:
    """A request over HTTP/1.1 whose body a test sends in parts, and whose answer it reads in parts."""

    def __init__(self, place, path, fields=(), method="GET", who="ann"):
        self.connection = Connection(place.proxy.port, place.proxy.certificate[0], NAME)
        place.open_browsers.append(self.connection)
        self.connection.open()
        self.host = f"{NAME}:{place.proxy.port}"
        self.fields = [("Cookie", f"{SESSION}={place.member(who).cookies[SESSION]}")] if who else []
        place.application.streams.pop(path.partition("?")[2], None)
        self.send(path, fields, method)

    def send(self, path, fields=(), method="GET"):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", *(f"{name}: {value}" for name, value in [*self.fields, *fields])]
        self.body("\r\n".join(lines).encode() + b"\r\n\r\n")

    def body(self, data):
        self.connection.tls.sendall(data)

    def head(self, seconds=10):
        """The next head of an answer, also an interim one; None if there is none within the time or the connection ends."""
        if not self._until(lambda rest: b"\r\n\r\n" in rest, seconds):
            return None
        head, _, self.connection.rest = self.connection.rest.partition(b"\r\n\r\n")
        return Answer(head, b"")

    def contains(self, text, seconds=2):
        """Reads until the answer contains a text. False if the time or the answer ends before."""
        return self._until(lambda rest: text in rest, seconds)

    def ends(self, seconds=5):
        """Reads until the answer ends: its last chunk, or the end of the connection."""
        self._until(lambda rest: rest.endswith(b"0\r\n\r\n"), seconds)
        return self.connection.rest.endswith(b"0\r\n\r\n") or self.has_closed

    has_closed = False

    def _until(self, wanted, seconds):
        until = time.monotonic() + seconds
        while not wanted(self.connection.rest):
            left = until - time.monotonic()
            if left <= 0:
                return False
            self.connection.tls.settimeout(left)
            try:
                if not self.connection._more():
                    self.has_closed = True
                    return False
            except TimeoutError:
                return False
            except (ConnectionError, ssl.SSLError):
                self.has_closed = True
                return False
        return True


def end_session(place, name):
    """Ends the sessions of a user, and waits until the proxy rejects them."""
    browser = place.member(name)
    place.gatehouse.end_sessions(name)
    until = time.monotonic() + 3
    while browser.ask("/shared", kind=FETCH).status == 200:
        expect(time.monotonic() < until, "the session is still valid")
        time.sleep(0.05)
    return browser


def curl(place, path, *options, file=None, who="ann", kind=FETCH):
    """Sends a file by curl. Returns the response, or None if the proxy ends the connection while the file is sent."""
    cookie = ["--header", f"Cookie: {SESSION}={place.member(who).cookies[SESSION]}"] if who else []
    fields = [word for name, value in kind.items() for word in ("--header", f"{name}: {value}")]
    with open(file or os.devnull, "rb") as given:
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "60", "--include", "--cacert", place.proxy.certificate[0],
             "--resolve", f"{NAME}:{place.proxy.port}:127.0.0.1", *cookie, *fields, *options, f"https://{NAME}:{place.proxy.port}{path}"],
            stdin=given, capture_output=True)
    if done.returncode in (55, 56, 92) and not done.stdout:
        return None
    rest = done.stdout
    while True:
        head, _, rest = rest.partition(b"\r\n\r\n")
        expect(head.startswith(b"HTTP/"), f"no answer: {done.stderr.decode(errors='replace')}")
        answer = Answer(head, rest)
        if answer.status >= 200:
            return answer


def large_file(place):
    path = os.path.join(place.proxy.folder, "upload")
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(os.urandom(SIZE))
    with open(path, "rb") as file:
        return path, hashlib.sha256(file.read()).hexdigest()


# With a session

@scenario
def large_uploads_with_and_without_a_length_reach_the_application_unchanged(place):
    path, digest = large_file(place)
    for version in ("--http1.1", "--http2"):
        # curl sends standard input without a length: in chunks over HTTP/1.1. By default, it sends Expect over HTTP/1.1.
        for given in (["--upload-file", path], ["--upload-file", "-"]):
            for expects in ([], ["--header", "Expect:"]):
                answer = curl(place, "/shared/upload?large", version, *given, *expects, file=path)
                expect_equal(answer.status, 200, f"{version} {given} {expects}: {answer}")
                received = json.loads(answer.body)
                expect_equal((received["method"], received["received"], received["digest"]), ("PUT", SIZE, digest))
                expect_equal(identity_of(received["fields"]), identity_fields("ann"))


@scenario
def expect_100_continue_gets_100_before_the_body_if_the_request_is_allowed(place):
    request = Request(place, "/shared/upload?expected", [("Content-Length", "9"), ("Expect", "100-continue")], "PUT")
    answer = request.head()
    expect(answer is not None and answer.status == 100, answer)
    request.body(b"some body")
    answer = request.head()
    # Caddy passes on the 100 of the application too.
    if answer is not None and answer.status == 100:
        answer = request.head()
    expect(answer is not None and answer.status == 200, answer)
    expect_equal(place.application.stream("expected").received, 9)


@scenario
def an_upload_that_is_not_allowed_does_not_reach_the_application(place):
    path, _ = large_file(place)
    for who, kind, statuses in ((None, FETCH, (401,)), (None, NAVIGATION, (302, 303)), ("bob", FETCH, (403,)), ("bob", NAVIGATION, (403,))):
        for version in ("--http1.1", "--http2"):
            for given in (["--upload-file", path], ["--upload-file", "-"]):
                for expects in ([], ["--header", "Expect:"]):
                    place.application.streams.pop("denied", None)
                    answer = curl(place, "/desk/upload?denied", version, *given, *expects, file=path, who=who, kind=kind)
                    what = f"{who} {version} {given} {expects}: {answer}"
                    if answer is None and place.proxy.flavour == "haproxy":
                        # HAProxy answers and ends the connection, and curl 7 stops when it cannot send more.
                        expect(not expects == [] or version == "--http2", what)
                        expect_equal(place.application.stream("denied", seconds=0.1), None, what)
                        continue
                    expect(answer is not None and answer.status in statuses, what)
                    # nginx has only a line of text for it. curl 7 drops the page if Caddy resets the stream of HTTP/2 after it.
                    texts = {"nginx": b"You are not allowed", "caddy": b"" if version == "--http2" else b"signed in as bob"}
                    expect(answer.status != 403 or kind != NAVIGATION or texts.get(place.proxy.flavour, b"signed in as bob") in answer.body, what)
                    expect_equal(place.application.stream("denied", seconds=0), None, what)


@scenario
def an_upload_with_expect_100_continue_is_rejected_before_its_body(place):
    for who, status in ((None, 401), ("bob", 403)):
        for length in (1_000_000_000, 9):
            request = Request(place, "/desk/upload?early", [("Content-Length", str(length)), ("Expect", "100-continue")], "PUT", who)
            answer = request.head(3)
            expect(answer is not None and answer.status == status, f"{who} {length}: {answer}")
    expect_equal(place.application.stream("early", seconds=0.2), None)


@scenario
def server_sent_events_reach_the_client_at_once(place):
    request = Request(place, "/shared/events?at-once", [("Accept", "text/event-stream")])
    answer = request.head()
    expect(answer is not None and answer.status == 200, answer)
    expect_equal(answer.field("content-type"), "text/event-stream", answer)
    expect(request.contains(b'"ann"'), f"the first event has not arrived: {request.connection.rest}")
    for number in range(3):
        place.application.push("at-once", f"event {number}")
        expect(request.contains(b"data: event %d\n\n" % number, 1), f"event {number} has not arrived within a second: {request.connection.rest}")
    # The application notices that the client has gone: behind HAProxy when it has sent further events.
    request.connection.close()
    noticed = place.application.stream("at-once", lambda stream: stream.has_ended, 2)
    expect_equal(noticed is None, place.proxy.flavour == "haproxy", "whether the application notices at once that the client has gone")
    for _ in range(20):
        place.application.push("at-once", "another event")
        if place.application.stream("at-once", lambda stream: stream.has_ended, 0.25):
            return
    raise AssertionError("the application still sends events")


@scenario
def server_sent_events_reach_the_client_at_once_over_http_2(place):
    events = Events2(place, "/shared/events?at-once-2")
    expect(events.contains(b'"ann"'), events.data)
    for number in range(3):
        place.application.push("at-once-2", f"event {number}")
        expect(events.contains(b"data: event %d\n\n" % number, 1), f"event {number} has not arrived within a second: {events.data}")


class Events2:
    """An answer over HTTP/2 that arrives in parts."""

    def __init__(self, place, path, who="ann"):
        self.client = HTTP2(place.proxy.port, place.proxy.certificate[0], NAME)
        place.open_browsers.append(self.client)
        self.data, self.has_ended = b"", False
        place.application.streams.pop(path.partition("?")[2], None)
        cookie = place.member(who).cookies[SESSION]
        connection = self.client.begin().connection
        connection.send_headers(connection.get_next_available_stream_id(), [
            (":method", "GET"), (":scheme", "https"), (":authority", f"{NAME}:{place.proxy.port}"), (":path", path),
            ("accept", "text/event-stream"), ("cookie", f"{SESSION}={cookie}")], end_stream=True)
        self.client._flush()

    def contains(self, text, seconds=2):
        until = time.monotonic() + seconds
        while text not in self.data:
            left = until - time.monotonic()
            if left <= 0 or self.has_ended:
                return False
            self.client.stream.settimeout(left)
            try:
                events = self.client._events()
            except TimeoutError:
                return False
            except ConnectionError:
                self.has_ended = True
                return False
            self.data += b"".join(event.data for event in events if isinstance(event, h2.events.DataReceived))
            self.has_ended |= any(isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)) for event in events)
        return True


def open_socket(place, name, who="ann"):
    place.application.streams.pop(name, None)
    client = UpgradeConnection(place)
    place.open_browsers.append(client)
    answer = client.ask(f"/shared/socket?{name}", websocket([("Cookie", f"{SESSION}={place.member(who).cookies[SESSION]}")]))
    return client, answer


def expect_echo(client, text):
    client.connection.tls.sendall(frame(text))
    expect_equal(message(client.connection), f"back: {text}")


@scenario
def a_websocket_sends_messages_in_both_directions_at_once(place):
    client, answer = open_socket(place, "both")
    expect(answer is not None and answer.status == 101, answer)
    expect_echo(client, "hello")
    place.application.push("both", "by itself")
    expect_equal(message(client.connection), "by itself")
    client.close()
    expect(place.application.stream("both", lambda stream: stream.has_ended, 5), "the application still has the WebSocket")


# The end of the session

@scenario
def an_upload_is_completed_when_its_session_ends_meanwhile(place):
    for name, fields in (("length", [("Content-Length", str(2 * len(HALF)))]), ("chunks", [("Transfer-Encoding", "chunked")])):
        request = Request(place, f"/shared/upload?{name}", fields, "PUT", "bob")
        def send(data, last=b""):
            request.body(data if name == "length" else b"%x\r\n%s\r\n%s" % (len(data), data, last))
        send(HALF)
        # nginx passes an upload on when it is complete, the others at once.
        early = place.application.stream(name, lambda stream: stream.received > 0, 0.5 if place.proxy.flavour == "nginx" else 10)
        expect_equal(early is None, place.proxy.flavour == "nginx", "when the application receives the first half")
        end_session(place, "bob")
        send(HALF, b"0\r\n\r\n")
        answer = request.head()
        expect(answer is not None and answer.status == 200, answer)
        stream = place.application.stream(name)
        expect_equal((stream.received, stream.digest.hexdigest()), (2 * len(HALF), hashlib.sha256(HALF + HALF).hexdigest()))
        expect_equal(identity_of(stream.fields), identity_fields("bob"))
        # The next request of the same connection is rejected.
        request.connection.rest = b""
        request.send("/shared/upload?next", [("Content-Length", "0"), *FETCH.items()], "PUT")
        request._until(lambda rest: b"HTTP/1.1 401" in rest, 5)
        expect(b"HTTP/1.1 401" in request.connection.rest, request.connection.rest)
        expect_equal(place.application.stream("next", seconds=0.1), None)


@scenario
def a_download_is_completed_when_its_session_ends_meanwhile(place):
    request = Request(place, "/shared/download?file", who="bob")
    expect(place.application.stream("file"), "the application has not received the request")
    place.application.push("file", b"the first part, ")
    expect(request.contains(b"the first part, "), request.connection.rest)
    end_session(place, "bob")
    place.application.push("file", b"the second part")
    place.application.push("file", None)
    expect(request.contains(b"the second part"), request.connection.rest)
    expect(request.ends(), "the download has no end")


@scenario
def server_sent_events_of_the_application_continue_when_the_session_ends_and_cannot_be_opened_again(place):
    for made in (lambda name: Request(place, f"/shared/events?{name}", who="bob"), lambda name: Events2(place, f"/shared/events?{name}", "bob")):
        events = made("continued")
        expect(events.contains(b'"bob"'), "the first event has not arrived")
        browser = end_session(place, "bob")
        time.sleep(1.5)
        place.application.push("continued", "after the end")
        expect(events.contains(b"data: after the end\n\n"), "the event after the end of the session has not arrived")
        # EventSource requests the events again when they end. This request is rejected.
        place.application.push("continued", None)
        place.application.streams.pop("again", None)
        for fields in ([], [("Accept", "text/event-stream"), ("Last-Event-ID", "1")]):
            expect_rejected(browser.ask("/shared/events?again", fields=fields, kind={**FETCH, "Accept": "text/event-stream"}), 401)
        expect_equal(place.application.stream("again", seconds=0.1), None)


@scenario
def a_websocket_stays_open_when_its_session_ends_and_cannot_be_opened_again(place):
    client, answer = open_socket(place, "kept", "bob")
    expect(answer is not None and answer.status == 101, answer)
    token = place.member("bob").cookies[SESSION]
    end_session(place, "bob")
    time.sleep(1.5)
    expect_echo(client, "after the end")
    place.application.push("kept", "of the application")
    expect_equal(message(client.connection), "of the application")
    place.application.streams.pop("reopened", None)
    again = UpgradeConnection(place)
    place.open_browsers.append(again)
    answer = again.ask("/shared/socket?reopened", websocket([("Cookie", f"{SESSION}={token}")]))
    expect(answer is not None and answer.status == 401, answer)
    expect_equal(place.application.stream("reopened", seconds=0.1), None)
    # The application can close it.
    place.application.push("kept", None)
    client.connection.tls.settimeout(5)
    expect_equal(client.connection.tls.recv(100), b"")


@scenario
def the_events_of_gatehouse_end_within_two_seconds_after_the_session(place):
    """A page of the application that reads them can close its own connections then."""
    def administrator(_):
        place.gatehouse.end_sessions("bob")

    def user(browser):
        fields = [("Origin", f"https://{browser.host}"), ("Sec-Fetch-Site", "same-origin")]
        expect_equal(browser.ask(f"{PREFIX}/session", "DELETE", fields, kind=FETCH).status, 204)

    for end, cause in ((administrator, b"administrator"), (user, b"logout")):
        for made in (lambda: Request(place, f"{PREFIX}/session/events", who="bob"), lambda: Events2(place, f"{PREFIX}/session/events", "bob")):
            events = made()
            # The first bytes of the stream: a comment or an event.
            expect(events.contains(b"\n"), "the stream of events has not begun")
            began = time.monotonic()
            end(place.member("bob"))
            expect(events.contains(b'"' + cause + b'"', 3), "the end of the session has not arrived")
            expect(time.monotonic() - began < 2, "the end of the session has arrived late")
            place.signed_in.pop("bob")


@scenario
def what_has_begun_continues_while_gatehouse_is_stopped(place):
    events, (client, answer) = Request(place, "/shared/events?outage"), open_socket(place, "outage-socket")
    expect(answer is not None and answer.status == 101, answer)
    upload = Request(place, "/shared/upload?outage-upload", [("Content-Length", str(2 * len(HALF)))], "PUT")
    upload.body(HALF)
    expect(events.contains(b'"ann"'), "the first event has not arrived")
    token = place.member("ann").cookies[SESSION]
    place.gatehouse.stop()
    try:
        place.application.push("outage", "during the outage")
        expect(events.contains(b"data: during the outage\n\n"), "the event has not arrived")
        expect_echo(client, "hello")
        upload.body(HALF)
        answer = upload.head()
        expect(answer is not None and answer.status == 200, answer)
        expect_equal(place.application.stream("outage-upload").received, 2 * len(HALF))
        # What begins now is rejected.
        for path, fields in (("/shared/events?new", []), ("/shared/socket?new", websocket())):
            new = UpgradeConnection(place)
            place.open_browsers.append(new)
            answer = new.ask(path, [*fields, ("Cookie", f"{SESSION}={token}")])
            expect(answer is not None and answer.status == 503, f"{path}: {answer}")
        expect_equal(place.application.stream("new", seconds=0.1), None)
    finally:
        place.gatehouse.start()
