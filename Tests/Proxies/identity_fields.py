# SPDX-License-Identifier: Apache-2.0
"""Tests of identity fields that a client sends itself, in all spellings, and of fields with other names."""

import os
import re
import tempfile

from client import FETCH, SESSION
from hosts_and_fields import http2_client, spellings
from proxy_fixture import NAME, Application, Gatehouse, certificate, received_request
from proxy_processes import DOCS
from scenarios import Place, basic, expect, expect_equal, identity_fields

SCENARIOS = []
NAMES = ["Remote-User", "Remote-Groups", "Remote-Realm", "Remote-Email", "Remote-Name", "Remote-Token"]
VALUE = "forged-by-the-client"


def scenario(function):
    SCENARIOS.append(function)
    return function


def forged_heads(name):
    """Lines of a head in which a client sends a field of this name, in a way that a proxy or an application might read as that name."""
    for spelling in [*spellings(name), name.lower(), name.upper(), name.swapcase()]:
        yield f"{spelling}: {VALUE}\r\n"
    yield f"{name}: \r\n{name}: {VALUE}\r\n"
    yield f"{name}: {VALUE}\r\n{name.lower()}: {VALUE}\r\n{name.upper()}: {VALUE}\r\n"
    yield f"{name}:{VALUE}\r\n"
    yield f"{name}:\t{VALUE}\t\r\n"
    # Invalid heads: a proxy may reject them.
    for spelling in (f"{name}.", f"{name}_", f".{name}", f"{name} ", f"{name}\t", f" {name}", f"{name}\x0b", f"{name}\x00", f"{name}\xa0", f'"{name}"',
                     f"{name}:", name.replace("-", "\xad"), name.replace("-", "‐").encode().decode("latin-1")):
        yield f"{spelling}: {VALUE}\r\n"
    yield f"X-Any: x\r\n {name}: {VALUE}\r\n"
    yield f"X-Any: x\n{name}: {VALUE}\r\n"
    yield f"X-Any: x\r{name}: {VALUE}\r\n"
    yield f"{name}: x\r\n {VALUE}\r\n"
    for listed in (name, name.lower(), f"close, {name}", f"keep-alive, {name}, X-Any", f"{name}, {name.replace('-', '_')}", f'"{name}"'):
        yield f"Connection: {listed}\r\n{name}: {VALUE}\r\n"
        yield f"{name}: {VALUE}\r\nConnection: {listed}\r\n"
    yield f"Proxy-Connection: {name}\r\nKeep-Alive: {name}\r\nTE: trailers, {name}\r\nTrailer: {name}\r\n{name}: {VALUE}\r\n"


def expect_not_forged(answer, who, what):
    """If the application has received the request, it has the identity fields of the user and nothing of the client in them."""
    if answer is None or answer.field("x-application") is None:
        return False
    fields = received_request(answer)["fields"]
    for name, value in fields:
        # A field of the test may contain the value as part of a folded line, but not in a field that is read as an identity.
        read = re.sub(r"[^a-z]", "", name.lower())
        expect(VALUE not in value or not read.startswith("remote"), f"{what!r}: the application has received {name}: {value}")
    found = sorted((name.lower(), value) for name, value in fields if name.lower() in ("remote-user", "remote-groups", "remote-realm") and value)
    expect_equal(found, identity_fields(who) if who else [], what)
    return True


@scenario
def no_spelling_of_an_identity_field_of_a_client_reaches_the_application(place):
    arrived, browser = 0, None
    for who, path in (("ann", "/desk"), (None, "/public")):
        cookie = f"Cookie: {SESSION}={place.member(who).cookies[SESSION]}\r\n" if who else ""
        for name in NAMES:
            for lines in forged_heads(name):
                for head in (f"{lines}{cookie}", f"{cookie}{lines}"):
                    # The connection is used until a request is rejected.
                    browser = browser or place.browser()
                    try:
                        answer = browser.connection.raw(f"GET {path} HTTP/1.1\r\nHost: {NAME}\r\n{head}\r\n".encode("latin-1"))
                    except (ValueError, IndexError):
                        # An answer without a head.
                        answer = None
                    arrived += expect_not_forged(answer, who, lines)
                    if answer is None or answer.status >= 400:
                        browser.close()
                        browser = None
        place.close()
        browser = None
    expect(arrived > 100, f"only {arrived} requests have arrived: the test shows nothing")


@scenario
def no_spelling_of_an_identity_field_of_a_client_reaches_the_application_over_http_2(place):
    token = place.member("ann").cookies[SESSION]
    arrived, client = 0, None
    for who, path, fields in (("ann", "/desk", [("cookie", f"{SESSION}={token}")]), (None, "/public", [])):
        for name in NAMES:
            names = [*(spelling.lower() for spelling in spellings(name)), name, name.upper(), f"{name.lower()}.", f"{name.lower()} ", f" {name.lower()}",
                     f"{name.lower()}\0", f"{name.lower()}:"]
            forged = [[(each, VALUE)] for each in names] + [[(name.lower(), ""), (name.lower(), VALUE)], [(name.lower(), VALUE)] * 2,
                                                            [("connection", name.lower()), (name.lower(), VALUE)],
                                                            [("x-any", f"x\r\n{name}: {VALUE}")], [("x-any", f"x\n{name}: {VALUE}")],
                                                            [("te", f"trailers, {name.lower()}"), (name.lower(), VALUE)]]
            for more in forged:
                for given in (fields + more, more + fields):
                    client = client or http2_client(place)
                    answer = client.ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", path), *given])
                    arrived += expect_not_forged(answer, who, more)
                    if answer is None or answer.status >= 400:
                        place.close()
                        client = None
    expect(arrived > 40, f"only {arrived} requests have arrived: the test shows nothing")


@scenario
def a_user_cannot_become_another_user_by_a_field(place):
    """bob is allowed at /shared. His requests never arrive as ann's, with a session, with HTTP Basic, and with every method."""
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        for fields in ([("Remote-User", "ann"), ("Remote-Groups", "Staff")], [("remote_user", "ann")] * 2, [("Connection", "Remote-User"), ("Remote-User", "ann")]):
            for browser, more in ((place.member("bob"), []), (place.browser(), basic("bob"))):
                answer = browser.ask("/shared", method, [*fields, *more], b"" if method == "GET" else b"x", kind=FETCH)
                expect(expect_not_forged(answer, "bob", fields), f"{method} {fields}: {answer}")
                browser.close()


# Other names

def documented_line(proxy):
    """The line of the documentation for another name, on the page of a proxy."""
    with open(os.path.join(DOCS, "..", "proxies", f"{proxy}.md")) as file:
        section = file.read().partition("\n## Other names\n")[2].partition("\n## ")[0]
    line, = re.findall(r"^```text\n(.*)\n```$", section, re.MULTILINE)
    return line


def run(kind, program, count, folder):
    """Runs the scenario with the line of the documentation in the file of the proxy."""
    if count.words and count.words != "identity_fields":
        return
    print(f"== {kind.title}, with another name for Remote-User", flush=True)
    line = documented_line(kind.title)
    file, before = {
        "nginx": ("snippets/gatehouse-application.conf", "proxy_set_header Remote-User   $gatehouse_user;\n"),
        "caddy": ("gatehouse.caddy", "\t\thandle_response @allowed {\n"),
        "haproxy": ("site.cfg", "    http-request deny deny_status 403 unless gatehouse-pages || { var(txn.gatehouse) -m str allow }\n"),
    }[kind.title]
    folder = tempfile.mkdtemp(dir=folder)
    os.chmod(folder, 0o755)
    with Gatehouse(program) as gatehouse, Application() as application:
        names = certificate(folder, NAME, "www.example.com", "wiki.example.com", "auth.example.com")
        with kind(folder, gatehouse, application, names, changes=[(file, before, f"{before}    {line}\n")]) as proxy:
            count.run(the_field_with_another_name_has_the_user_and_never_a_value_of_the_client, Place(proxy, gatehouse, application))


def the_field_with_another_name_has_the_user_and_never_a_value_of_the_client(place):
    def received(browser, path, fields):
        answer = browser.ask(path, fields=fields, kind=FETCH)
        return [value for name, value in received_request(answer)["fields"]
                if re.sub("[^a-z]", "-", name.lower()) == "x-webauth-user" and value]

    forged = [[(spelling, VALUE) for spelling in spellings("X-Webauth-User")], [("X-WEBAUTH-USER", VALUE)] * 2,
              [("Connection", "X-Webauth-User"), ("X-Webauth-User", VALUE)], [("X-Webauth-User", ""), ("x-webauth-user", VALUE)]]
    for fields in ([], *forged):
        for who, path in (("ann", "/desk"), ("bob", "/shared"), ("zoë", "/utf8/x"), (None, "/public"), ("ann", "/public")):
            browser = place.browser() if who in (None, "zoë") else place.member(who)
            more = basic("zoë", "a third long password") if who == "zoë" else []
            wanted = [] if path == "/public" else ["zoë".encode().decode("latin-1") if who == "zoë" else who]
            expect_equal(received(browser, path, [*fields, *more]), wanted, f"{who} {path} {fields}")
            browser.close()
