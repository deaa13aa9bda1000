# SPDX-License-Identifier: Apache-2.0
"""Tests of an application at two hosts, one of them open, and of fields, trailers and cookies that reach the application."""

import os
import re
import shlex
import subprocess
import urllib.parse

from client import FETCH, NAVIGATION, SESSION, Answer
from proxy_processes import DOCS
from scenarios import expect_equal, expect_rejected, identity_fields, expect
from http2_client import HTTP2
from proxy_fixture import NAME, OPEN_HOST, PASSWORDS, PREFIX, identity, identity_of, received_request, received_fields

SCENARIOS = []
FORGED = [("Remote-User", "root"), ("Remote-Groups", "Staff"), ("Remote-Realm", "town"), ("Remote-Email", "root@evil"), ("Remote-Name", "root"), ("Remote-Token", "e30.e30.e30")]
# Fields that applications and frameworks may use instead of the path, method, host or scheme of the request.
MISLEADING = [
    "Forwarded", "X-Original-URL", "X-Original-URI", "X-Original-Method", "X-Original-Host", "X-Rewrite-URL", "X-Forwarded-URI",
    "X-Forwarded-Method", "X-Forwarded-Path", "X-Forwarded-Prefix", "X-Forwarded-Port", "X-Forwarded-Server",
    "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-HTTP-Host-Override", "X-Host", "X-Real-IP", "X-Client-IP", "True-Client-IP",
    "X-Forwarded-Protocol", "X-Forwarded-Scheme", "X-Forwarded-SSL", "HTTP2-Settings",
    "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Groups", "X-Forwarded-Preferred-Username", "X-Original-Forwarded-For",
    "X-Envoy-Original-Path", "X-Script-Name", "Remote-Addr",
]


def scenario(function):
    SCENARIOS.append(function)
    return function


def spellings(name):
    """All spellings of a field name that CGI or PHP read as the same name: with -, _ or . between the words."""
    first, *rest = name.split("-")
    found = [first]
    for part in rest:
        found = [one + between + part for one in found for between in "-_."]
    return found


def host_of(text):
    """The host that an application reads from a Host field or an absolute target."""
    if "://" in text:
        text = urllib.parse.urlsplit(text).netloc
    return text.rpartition("@")[2].partition(":")[0].lower().rstrip(".")


def received_hosts(answer):
    request = received_request(answer)
    found = [value for name, value in request["fields"] if name.lower() in ("host", "x-forwarded-host")]
    if "://" in request["target"]:
        found.append(request["target"])
    return {host_of(value) for value in found}


def expect_rules_of_received_host(place, answer, what, who):
    """If the request has reached the application, it must be allowed by the rules of the host that the application has received."""
    if answer is None or answer.field("x-application") is None:
        return
    hosts = received_hosts(answer)
    expect(len(hosts) == 1, f"{what}: the application has received several hosts: {hosts}")
    if hosts == {OPEN_HOST}:
        expect_equal([value for _, value in identity(answer) if value], [], what)
    else:
        expect_equal((hosts, identity(answer)), ({NAME}, identity_fields("ann")), what)
        expect_equal(who, "ann", f"{what}: got in")


def signed_in(place, name, who):
    made = place.browser()
    made.connection.name = name
    if who:
        made.cookies = dict(place.member(who).cookies)
    return made


@scenario
def each_host_has_its_own_rules(place):
    browser = signed_in(place, OPEN_HOST, None)
    answer = browser.ask("/desk", kind=FETCH, host=f"{OPEN_HOST}:{place.proxy.port}")
    expect_equal(received_hosts(answer), {OPEN_HOST})
    expect_rules_of_received_host(place, answer, "the open host", None)
    expect_rejected(place.browser().ask("/desk", kind=FETCH), 401)
    expect_rules_of_received_host(place, place.member("ann").ask("/desk", kind=FETCH), "the guarded host", "ann")


@scenario
def the_application_receives_the_host_whose_rules_were_applied(place):
    targets = ["/desk", *(f"{scheme}://{host}{port}/desk" for scheme in ("https", "http", "HTTPS")
                          for host in (NAME, OPEN_HOST, OPEN_HOST.upper(), f"{OPEN_HOST}.", f"{NAME}@{OPEN_HOST}",
                                       f"{OPEN_HOST}@{NAME}") for port in ("", ":443", ":1", ":"))]
    values = [NAME, OPEN_HOST, f"{NAME}:{place.proxy.port}", f"{OPEN_HOST}:{place.proxy.port}", f"{OPEN_HOST}.", f"{OPEN_HOST}:x",
              f"{NAME}, {OPEN_HOST}", f"{OPEN_HOST}, {NAME}", f"{OPEN_HOST}:{NAME}", f"{NAME}@{OPEN_HOST}", f"{OPEN_HOST}/{NAME}",
              f"{OPEN_HOST}#{NAME}", f"{NAME} {OPEN_HOST}", f"{OPEN_HOST.upper()}", "other.example.com"]
    for who in (None, "bob", "ann"):
        for sni in (NAME, OPEN_HOST):
            browser = signed_in(place, sni, who)
            for target in targets:
                for value in values if target == "/desk" or who is None and sni == NAME else values[:2]:
                    answer = browser.ask(target, kind=FETCH, host=value)
                    expect_rules_of_received_host(place, answer, f"{who or 'nobody'}: {target}, Host: {value}, SNI {sni}", who)


@scenario
def repeated_and_missing_host_fields_bypass_no_rule(place):
    for who in (None, "ann"):
        cookie = f"Cookie: {SESSION}={place.member('ann').cookies[SESSION]}\r\n" if who else ""
        for version in ("1.1", "1.0"):
            for hosts in ([], [OPEN_HOST, NAME], [NAME, OPEN_HOST], [NAME, NAME], [""], ["", NAME], [OPEN_HOST, OPEN_HOST, NAME]):
                for target in ("/desk", f"https://{OPEN_HOST}/desk", f"https://{NAME}/desk"):
                    for more in ("", f"X-Forwarded-Host: {OPEN_HOST}\r\n", f"Forwarded: host={OPEN_HOST}\r\n",
                                 "Connection: Host\r\n", "Connection: X-Forwarded-Host\r\n"):
                        browser = place.browser()
                        head = f"GET {target} HTTP/{version}\r\n" + "".join(f"Host: {host}\r\n" for host in hosts)
                        answer = browser.connection.raw(f"{head}{more}{cookie}Accept: */*\r\n\r\n".encode())
                        expect_rules_of_received_host(place, answer, f"{head!r} {more!r} {who}", who)
                        browser.close()


@scenario
def over_http_2_the_application_receives_the_host_whose_rules_were_applied(place):
    token = place.member("ann").cookies[SESSION]
    for who in (None, "ann"):
        for authority in (NAME, OPEN_HOST, f"{OPEN_HOST}:{place.proxy.port}", f"{NAME}@{OPEN_HOST}", f"{OPEN_HOST}, {NAME}", "", None):
            for host in (None, NAME, OPEN_HOST, f"{OPEN_HOST}, {NAME}"):
                for path in ("/desk", f"https://{OPEN_HOST}/desk", f"//{OPEN_HOST}/desk"):
                    for scheme in ("https", "http"):
                        fields = [(":method", "GET"), (":scheme", scheme), (":path", path)]
                        if authority is not None:
                            fields.append((":authority", authority))
                        if host:
                            fields.append(("host", host))
                        if who:
                            fields.append(("cookie", f"{SESSION}={token}"))
                        answer = http2_client(place).ask([*fields, *((name.lower(), value) for name, value in FORGED)])
                        expect_rules_of_received_host(place, answer, f"{fields}", who)
                        place.close()


def http2_client(place):
    made = HTTP2(place.proxy.port, place.proxy.certificate[0], NAME)
    place.open_browsers.append(made)
    return made.begin()


@scenario
def the_application_receives_the_port_that_the_client_used(place):
    """Applications need the port for URLs and to check Origin."""
    for host in (f"{NAME}:{place.proxy.port}", NAME, f"{NAME}:8443"):
        fields = dict(received_fields(place.member("ann").ask("/desk", kind=FETCH, host=host)))
        expect_equal((fields["host"], fields["x-forwarded-host"]), (host, host))
        browser = place.browser()
        answer = browser.ask("/desk", host=host)
        expect_rejected(answer, 302, 303)
        expect(urllib.parse.urlsplit(answer.field("location")).netloc in ("", host), f"{host}: {answer}")


@scenario
def fields_that_replace_path_method_or_host_never_reach_the_application(place):
    """These fields name another path, method or host than that of the authorization request."""
    allowed = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "host"}
    for name in MISLEADING:
        fields = [(spelling, f"/desk; host={NAME}; DELETE") for spelling in spellings(name)]
        for browser, path in ((place.browser(), "/public"), (place.member("ann"), "/desk")):
            found = [pair for pair in received_fields(browser.ask(path, fields=fields, kind=FETCH))
                     if pair[0].replace("_", "-").replace(".", "-") == name.lower()]
            expect(not any("DELETE" in value for _, value in found), f"the application has received {found}")
    fields = [(spelling, "elsewhere.example.com") for name in ("X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For")
              for spelling in spellings(name)]
    for name, value in received_fields(place.member("ann").ask("/desk", fields=fields, kind=FETCH)):
        expect("elsewhere" not in value, f"{name}: {value}")
        expect(name in allowed or not name.replace("_", "-").replace(".", "-").startswith("x-forwarded"), f"{name}: {value}")


@scenario
def a_connection_field_of_the_client_does_not_remove_the_identity(place):
    """A server in front of the application may remove the fields that Connection names."""
    for names in ("Remote-User", "remote-user, Remote-Groups", "Remote-User, close", "keep-alive, Remote-Realm", "X-Forwarded-Host, Host",
                  "Upgrade, Remote-User", "Remote-User, Upgrade"):
        # HAProxy rejects a WebSocket without a key.
        for more in ([], [("Upgrade", "websocket"), ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Sec-WebSocket-Version", "13")]):
            answer = place.member("ann").ask("/desk", fields=[("Connection", names), *more, *FORGED], kind=FETCH)
            expect_equal(identity(answer), identity_fields("ann"), names)
            words = {word.strip().lower() for name, value in received_fields(answer) if name in ("connection", "proxy-connection", "keep-alive")
                     for word in value.split(",")}
            expect(words <= {"", "close", "keep-alive", "upgrade"}, f"the application has received Connection: {words}")


TRAILERS = b"".join(f"{name}: {value}\r\n".encode() for name, value in FORGED + [("X-Trailer", "x")])


@scenario
def trailers_of_a_client_never_reach_the_application(place):
    for path, who in (("/public", None), ("/desk", "ann")):
        for declared in ([], [("Trailer", "Remote-User, Remote-Groups, Remote-Realm, X-Trailer")]):
            for body in (b"", b"some body", b"x" * 100_000):
                browser = place.member(who) if who else place.browser()
                fields = [("Transfer-Encoding", "chunked"), *declared]
                chunks = (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n" + TRAILERS + b"\r\n"
                lines = [f"POST {path} HTTP/1.1", f"Host: {browser.host}", *(f"{name}: {value}" for name, value in fields)]
                if who:
                    lines.append(f"Cookie: {SESSION}={browser.cookies[SESSION]}")
                answer = browser.connection.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + chunks)
                expect_no_trailers(answer, f"{path} {declared} {len(body)}", who)
                fields = [(":method", "POST"), (":scheme", "https"), (":authority", browser.host), (":path", path),
                          *((name.lower(), value) for name, value in declared)]
                if who:
                    fields.append(("cookie", f"{SESSION}={browser.cookies[SESSION]}"))
                body = body[:16_000]
                for length in ([], [("content-length", str(len(body)))]):
                    answer = http2_client(place).ask([*fields, *length], body, [(name.lower(), value) for name, value in FORGED])
                    # nginx ends the connection if a request has trailers.
                    if answer is not None:
                        expect_no_trailers(answer, f"HTTP/2 {path} {declared} {length} {len(body)}", who)
                place.close()


def expect_no_trailers(answer, what, who):
    """A request with trailers must be rejected, or must arrive without them."""
    expect(answer is not None, f"{what}: no answer")
    if answer.field("x-application") is None:
        expect(400 <= answer.status < 500, f"{what}: {answer}")
        return
    request = received_request(answer)
    expect_equal(request["trailers"], [], what)
    expect_equal([pair for pair in identity_of(request["fields"]) if pair[1]], identity_fields(who) if who else [], what)


@scenario
def bodies_of_unknown_length_reach_the_application(place):
    for size in (0, 9, 100_000):
        browser = place.member("ann")
        lines = ["POST /desk HTTP/1.1", f"Host: {browser.host}", "Transfer-Encoding: chunked", f"Cookie: {SESSION}={browser.cookies[SESSION]}"]
        chunk = b"%x\r\n%s\r\n" % (size, b"x" * size) if size else b""
        answer = browser.connection.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + chunk + b"0\r\n\r\n")
        expect_equal(identity(answer), identity_fields("ann"), size)


@scenario
def cookies_of_12_kilobytes_are_accepted(place):
    """A cookie of a browser has up to 4 KB, and applications set several cookies."""
    jar = "; ".join(f"application-{number}={'x' * 3000}" for number in range(4))
    token = place.member("ann").cookies[SESSION]
    for cookies in (f"{jar}; {SESSION}={token}", f"{SESSION}={token}; {jar}"):
        answer = place.browser().ask("/desk", fields=[("Cookie", cookies)])
        expect_equal(identity(answer), identity_fields("ann"))
        expect_equal([value.strip("; ") for name, value in received_fields(answer) if name == "cookie"], [jar])
        answer = http2_client(place).ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/desk"),
                                 *(("cookie", crumb) for crumb in cookies.split("; "))])
        expect_equal(identity(answer), identity_fields("ann"))
    expect_rejected(place.browser().ask("/desk", fields=[("Cookie", jar)]), 302, 303)
    expect_rejected(place.browser().ask("/desk", fields=[("Cookie", jar)], kind=FETCH), 401)
    expect_equal(place.browser().ask(f"{PREFIX}/sign-in", fields=[("Cookie", jar)]).status, 200)


@scenario
def a_long_url_is_redirected_to_the_sign_in_page(place):
    """The address of the sign-in page contains the requested URL, percent-encoded."""
    for length in (2000, 4000, 6000):
        answer = place.browser().ask("/desk?" + "x=%26&" * (length // 6), kind=NAVIGATION)
        expect_rejected(answer, 302, 303)
        page = answer.field("location")
        expect("/sign-in" in page, answer)
        if length == 2000:
            expect_equal(place.browser().ask(page[page.index("/gatehouse"):]).status, 200)


@scenario
def a_method_that_no_rule_allows_gets_405_or_403_behind_nginx(place):
    expect_equal(place.browser().ask("/reading", kind=FETCH).status, 200)
    answer = place.browser().ask("/reading", "POST", body=b"x", kind=FETCH, fields=[("X-HTTP-Method-Override", "GET")])
    if place.proxy.flavour == "nginx":
        expect_rejected(answer, 403)
    else:
        expect_rejected(answer, 405)
        expect_equal(answer.field("allow"), "GET, HEAD", answer)


def documented_commands(heading):
    """The curl commands in a section of docs/forward-auth.md, each with its comment."""
    with open(os.path.join(DOCS, "..", "forward-auth.md")) as file:
        text = file.read().partition(f"\n## {heading}\n")[2].partition("\n## ")[0].replace("\\\n", " ")
    return [line.partition(" # ")[::2] for line in text.splitlines() if line.startswith("curl ")]


def run_command(command, authority, replacements):
    """Runs a curl command of the page, with the ports of this run, and returns the response."""
    for word, value in replacements.items():
        command = command.replace(word, value)
    words = shlex.split(command)
    done = subprocess.run([words[0], "--silent", "--max-time", "30", "--cacert", authority, *words[1:]], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    expect(head, f"{command}: {done.stderr.decode(errors='replace')} {done.returncode}")
    return Answer(head, body)


@scenario
def the_curl_commands_of_the_documentation_give_the_documented_answers(place):
    port = place.proxy.port
    found = documented_commands("Trying it")[:-1]
    expect_equal(len(found), 7)
    for command, comment in found:
        answer = run_command(f"{command} --resolve {NAME}:{port}:127.0.0.1", place.proxy.certificate[0], {
            f"https://{NAME}/": f"https://{NAME}:{port}/", "-u ann ": f"-u 'ann:{PASSWORDS['ann']}' "})
        wanted = [int(status) for status in re.findall(r"\b[1-5]\d\d\b", comment.partition("(")[0].partition("never")[0])]
        expect(answer.status in wanted, f"{command}: {comment}: {answer}")
        if 200 in wanted:
            expect_equal(identity(answer), identity_fields("ann"), command)
