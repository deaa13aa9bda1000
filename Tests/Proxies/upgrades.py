# SPDX-License-Identifier: Apache-2.0
"""Tests of upgrades, with an application that accepts h2c and WebSocket. The only tunnel that a client may get is an allowed WebSocket."""

import base64
import hashlib
import json
import struct

from client import SESSION, Answer, Connection
from scenarios import expect_equal, expect_denied, identity_fields, expect
from http2_client import HTTP2
from proxy_fixture import NAME, OPEN_HOST, identity_of

SCENARIOS = []
KEY = base64.b64encode(b"sixteen bytes ok").decode()
SETTINGS = "AAMAAABkAAQAAP__"
FORGED = [("remote-user", "root"), ("remote-groups", "Staff"), ("remote-realm", "town"), ("remote-email", "root@evil"), ("remote-name", "root"), ("remote-token", "e30.e30.e30")]


def scenario(function):
    SCENARIOS.append(function)
    return function


class UpgradeConnection:
    """A connection on which the client requests an upgrade to another protocol."""

    def __init__(self, place, name=NAME):
        self.connection = Connection(place.proxy.port, place.proxy.certificate[0], name)
        self.connection.open()
        self.host = f"{name}:{place.proxy.port}"

    def ask(self, path="/public", fields=(), method="GET", version="1.1", host=None, body=b""):
        """Sends a request and returns the first response, such as 101, or None if the connection ends without one."""
        lines = [f"{method} {path} HTTP/{version}", f"Host: {host or self.host}",
                 *(f"{name}: {value}" for name, value in fields)]
        stream = self.connection.tls
        try:
            stream.settimeout(5)
            stream.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
            while b"\r\n\r\n" not in self.connection.rest:
                if not self.connection._more():
                    return None
        except OSError:
            return None
        head, _, self.connection.rest = self.connection.rest.partition(b"\r\n\r\n")
        return Answer(head, b"")

    def tunnelled(self, has_upgraded):
        """Sends a request for a protected path by HTTP/2 over this connection, and returns the response if there is one."""
        inside = HTTP2(stream=self.connection.tls, rest=self.connection.rest)
        try:
            inside.begin(has_upgraded)
            return inside.ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/desk/tunnelled"),
                               *FORGED])
        except Exception:  # noqa: BLE001 - any error means that there is no tunnel
            return None

    def close(self):
        self.connection.close()


def upgrade(*protocols, connection="Upgrade, HTTP2-Settings"):
    return [("Connection", connection), *(("Upgrade", protocol) for protocol in protocols), ("HTTP2-Settings", SETTINGS)]


def expect_no_tunnel(place, what):
    for request in place.application.requests():
        expect("tunnelled" not in request["target"], f"{what}: the application has received {request}")
        expect(request["version"] in ("1.0", "1.1"), f"{what}: the application speaks HTTP/2 with the client: {request}")
        expect("http2-settings" not in dict(request["fields"]), f"{what}: {request}")


@scenario
def the_application_itself_accepts_h2c(place):
    """The other tests would prove nothing if the application did not accept h2c."""
    with place.application.connected() as plain:
        plain.sendall(f"GET /public HTTP/1.1\r\nHost: {NAME}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                      f"HTTP2-Settings: {SETTINGS}\r\n\r\n".encode())
        head, _, rest = plain.recv(65536).partition(b"\r\n\r\n")
        expect_equal(Answer(head, b"").status, 101)
        answer = HTTP2(stream=plain, rest=rest).begin(has_upgraded=True).ask(
            [(":method", "GET"), (":scheme", "http"), (":authority", NAME), (":path", "/desk/by-upgrade"), *FORGED])
        expect_equal((answer.status, json.loads(answer.body)["target"]), (200, "/desk/by-upgrade"))
    with place.application.connected() as plain:
        answer = HTTP2(stream=plain).begin().ask(
            [(":method", "GET"), (":scheme", "http"), (":authority", NAME), (":path", "/desk/at-once"), *FORGED])
        expect_equal(answer.status, 200)
    place.application.forget()


PROTOCOLS = [["h2c"], ["H2C"], [" h2c "], ["h2c,websocket"], ["websocket, h2c"], ["websocket", "h2c"], ["h2c", "websocket"],
             ["h2c", "h2c"], ["h2"], ["HTTP/2.0"], ["TLS/1.0"], ["websocket2"], ["x-anything"], ["\th2c"], ["", "h2c"]]


@scenario
def only_websocket_upgrades_are_passed_on(place):
    for protocols in PROTOCOLS:
        for connection in ("Upgrade, HTTP2-Settings", "upgrade", "HTTP2-Settings", "keep-alive", "close, Upgrade"):
            for path, name in (("/public/x", NAME), ("/", OPEN_HOST), ("/gatehouse/sign-in", NAME)):
                client = UpgradeConnection(place, name)
                what = f"{protocols} with Connection: {connection} at {name}{path}"
                try:
                    answer = client.ask(path, upgrade(*protocols, connection=connection))
                    expect(answer is None or answer.status != 101 or "websocket" in protocols,
                         f"{what}: {answer}")
                    if answer is not None and answer.status == 101:
                        expect_equal(answer.field("upgrade"), "websocket", what)
                    if answer is not None and connection == "Upgrade, HTTP2-Settings" and path != "/":
                        expect_denied(client.tunnelled(answer.status == 101))
                finally:
                    client.close()
    expect_no_tunnel(place, "Upgrade")


@scenario
def other_upgrades_are_rejected(place):
    for protocol in ("h2c", "TLS/1.0", "websocket, h2c"):
        client = UpgradeConnection(place)
        try:
            answer = client.ask("/public/x", upgrade(protocol))
            expect(answer is not None and 400 <= answer.status < 500, f"{protocol}: {answer}")
        finally:
            client.close()


@scenario
def no_version_method_or_body_opens_a_tunnel(place):
    for version in ("1.0", "1.1", "2.0"):
        for method in ("GET", "HEAD", "OPTIONS", "POST", "PRI", "CONNECT"):
            for target in ("/public/x", f"https://{NAME}/public/x", f"{NAME}:443", "*"):
                for fields in (upgrade("h2c"), [], [("Content-Length", "0"), *upgrade("h2c")]):
                    client = UpgradeConnection(place)
                    what = f"{method} {target} HTTP/{version} with {[name for name, _ in fields]}"
                    try:
                        answer = client.ask(target, fields, method, version)
                        expect(answer is None or answer.status != 101, f"{what}: {answer}")
                        if answer is not None and method in ("GET", "PRI", "CONNECT") and version != "1.0":
                            if method == "CONNECT":
                                expect_denied(answer)
                            expect_denied(client.tunnelled(bool(fields)))
                    finally:
                        client.close()
    expect_no_tunnel(place, "another version, method or body")


@scenario
def after_a_rejected_upgrade_the_next_request_is_checked(place):
    """The application rejects the WebSocket (426, 400), so the connection must not become a tunnel."""
    for version, key in (("7", KEY), ("13", None)):
        client = UpgradeConnection(place)
        try:
            first = client.ask("/public/x", [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", version),
                                             *([("Sec-WebSocket-Key", key)] if key is not None else [])])
            expect(first is None or first.status >= 400, f"{version} {key}: {first}")
            if first is not None:
                client.connection._exactly(int(first.field("content-length") or 0))
                expect_denied(client.ask("/desk/tunnelled", [("Remote-User", "root")]))
        finally:
            client.close()
    expect_no_tunnel(place, "a WebSocket that is refused")


def websocket(fields=()):
    return [("Connection", "keep-alive, Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", KEY), ("Origin", f"https://{NAME}"), *fields]


def cookie(place, name):
    return [("Cookie", f"{SESSION}={place.member(name).cookies[SESSION]}")]


def frame(text):
    """A text frame of a client, with a mask of zeros."""
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text.encode()


def message(connection):
    """Returns the next text frame."""
    def exactly(length):
        data = connection._exactly(length)
        expect_equal(len(data), length, "the WebSocket has ended")
        return data
    first, length = exactly(2)
    expect_equal(first, 0x81)
    if length == 126:
        length = struct.unpack("!H", exactly(2))[0]
    return exactly(length).decode()


@scenario
def an_allowed_websocket_works_and_the_application_receives_the_identity(place):
    accept = base64.b64encode(hashlib.sha1((KEY + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    for path, fields, who in (("/desk/socket?x=1", cookie(place, "ann"), "ann"), ("/shared", cookie(place, "bob"), "bob"),
                              ("/public", FORGED, None), ("/desk", [*FORGED, *cookie(place, "ann")], "ann")):
        for spelling in ("websocket", "WebSocket"):
            client = UpgradeConnection(place)
            try:
                wanted = [("Upgrade", spelling) if name == "Upgrade" else (name, value) for name, value in websocket(fields)]
                answer = client.ask(path, wanted)
                expect(answer is not None and answer.status == 101, f"{path} {spelling}: {answer}")
                expect_equal(answer.field("sec-websocket-accept"), accept)
                said = json.loads(message(client.connection))
                expect_equal(said["method"], "WEBSOCKET")
                expect_equal(identity_of(said["fields"]) if who else [value for _, value in identity_of(said["fields"]) if value],
                      identity_fields(who) if who else [])
                for text in ("hello", "once more"):
                    client.connection.tls.sendall(frame(text))
                    expect_equal(message(client.connection), f"back: {text}")
            finally:
                client.close()


@scenario
def a_websocket_that_the_rules_deny_is_rejected(place):
    for path, fields, statuses in (("/desk", [], (401,)), ("/desk", cookie(place, "bob"), (403,)), ("/desk", FORGED, (401,)),
                                   ("/public/..%2fdesk", [], (400, 403)), ("/nowhere/../desk", [], (400, 401, 403))):
        client = UpgradeConnection(place)
        try:
            before = len(place.application.requests())
            answer = client.ask(path, websocket(fields))
            expect(answer is not None and answer.status in statuses, f"{path}: {answer}")
            expect_equal(len(place.application.requests()), before, f"{path}: the application has received the request")
        finally:
            client.close()


# HTTP/2 to the proxy

def http2_client(place, name=NAME):
    made = HTTP2(place.proxy.port, place.proxy.certificate[0], name)
    place.open_browsers.append(made)
    return made.begin()


def pseudo(path, method="GET", authority=NAME, **more):
    return [(":method", method), (":scheme", "https"), (":authority", authority), (":path", path),
            *((f":{name}", value) for name, value in more.items())]


@scenario
def an_extended_connect_opens_no_tunnel_except_an_allowed_websocket(place):
    """In HTTP/2, CONNECT with :protocol is the counterpart of Upgrade (RFC 8441), if the proxy supports it."""
    for protocol in ("h2c", "H2C", "h2", "x-anything", "connect-udp", "websocket, h2c", ""):
        for path in ("/public/x", "/desk"):
            answer = http2_client(place).ask(pseudo(path, "CONNECT", protocol=protocol))
            expect(answer is None or answer.status >= 300, f":protocol {protocol} {path}: {answer}")
    for fields in (pseudo("/desk", "CONNECT", protocol="websocket"), pseudo("/desk", "CONNECT"), pseudo("/public", "CONNECT"),
                   [(":method", "CONNECT"), (":authority", NAME)], [(":method", "CONNECT"), (":authority", f"{NAME}:443")]):
        answer = http2_client(place).ask([*fields, ("sec-websocket-version", "13"), *FORGED])
        expect(answer is None or answer.status >= 300, f"{fields}: {answer}")
        expect_no_tunnel(place, f"{fields}")
    for upgraded in ([("upgrade", "h2c")], [("connection", "upgrade"), ("upgrade", "h2c"), ("http2-settings", SETTINGS)],
                     [("http2-settings", SETTINGS)]):
        answer = http2_client(place).ask([*pseudo("/public/x"), *upgraded])
        expect(answer is None or answer.status != 101, f"{upgraded}: {answer}")
    expect_no_tunnel(place, "an extended CONNECT")


@scenario
def a_websocket_over_http_2_is_decided_by_the_same_rules(place):
    offered = http2_client(place).settings().get(8, 0)
    if not offered:
        return
    fields = [*pseudo("/desk", "CONNECT", protocol="websocket"), ("sec-websocket-version", "13"), ("origin", f"https://{NAME}")]
    answer = http2_client(place).ask(fields)
    expect_equal(answer.status, 401, answer)
    expect_equal(http2_client(place).ask([*fields, ("cookie", cookie(place, "bob")[0][1])]).status, 403)
    ann = cookie(place, "ann")[0][1]
    before = len(place.application.requests())
    connection = http2_client(place)
    number = connection.connection.get_next_available_stream_id()
    connection.connection.send_headers(number, [*fields, *FORGED, ("cookie", ann)])
    connection._flush()
    data = b""
    while b"}" not in data:
        data += b"".join(getattr(event, "data", b"") for event in connection._events())
    asked = place.application.requests()[before:]
    expect_equal([(one["method"], identity_of(one["fields"])) for one in asked], [("WEBSOCKET", identity_fields("ann"))])

