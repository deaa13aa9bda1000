# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""What must hold where one application is at two hosts, one of them open: what is asked about is what the application is told."""

import os
import re
import shlex
import subprocess
import urllib.parse

from client import FETCH, NAVIGATION, SESSION, Answer
from peers import DOCS
from scenarios import equal, refused, told, true
from two import HTTP2
from world import NAME, OPEN_HOST, PASSWORDS, PREFIX, identity, identity_of, said, seen

SCENARIOS = []
FORGED = [("Remote-User", "root"), ("Remote-Groups", "Staff"), ("Remote-Realm", "town")]
# What applications and frameworks take for another path, method, host or scheme than those of the request itself.
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
    """A name with each of its hyphens as it is or as what CGI or PHP takes for the same."""
    first, *rest = name.split("-")
    found = [first]
    for part in rest:
        found = [one + between + part for one in found for between in "-_."]
    return found


def host_of(text):
    """The host that an application takes this for; an absolute target has one too."""
    if "://" in text:
        text = urllib.parse.urlsplit(text).netloc
    return text.rpartition("@")[2].partition(":")[0].lower().rstrip(".")


def hosts_told(answer):
    request = said(answer)
    found = [value for name, value in request["fields"] if name.lower() in ("host", "x-forwarded-host")]
    if "://" in request["target"]:
        found.append(request["target"])
    return {host_of(value) for value in found}


def judged_as_told(place, answer, what, who):
    """Whatever came through was judged by the rules of the host that the application takes it for."""
    if answer is None or answer.field("x-application") is None:
        return
    hosts = hosts_told(answer)
    true(len(hosts) == 1, f"{what}: the application is told of {hosts}")
    if hosts == {OPEN_HOST}:
        equal([value for _, value in identity(answer) if value], [], what)
    else:
        equal((hosts, identity(answer)), ({NAME}, told("ann")), what)
        equal(who, "ann", f"{what}: got in")


def signed_in(place, name, who):
    made = place.browser()
    made.connection.name = name
    if who:
        made.cookies = dict(place.member(who).cookies)
    return made


@scenario
def a_host_with_rules_of_its_own_is_judged_by_these(place):
    browser = signed_in(place, OPEN_HOST, None)
    answer = browser.ask("/desk", kind=FETCH, host=f"{OPEN_HOST}:{place.proxy.port}")
    equal(hosts_told(answer), {OPEN_HOST})
    judged_as_told(place, answer, "the open host", None)
    refused(place.browser().ask("/desk", kind=FETCH), 401)
    judged_as_told(place, place.member("ann").ask("/desk", kind=FETCH), "the guarded host", "ann")


@scenario
def the_host_that_is_judged_is_the_one_that_the_application_is_told_of(place):
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
                    judged_as_told(place, answer, f"{who or 'nobody'}: {target}, Host: {value}, SNI {sni}", who)


@scenario
def two_hosts_in_one_request_and_none_at_all_mislead_nobody(place):
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
                        judged_as_told(place, answer, f"{head!r} {more!r} {who}", who)
                        browser.close()


@scenario
def over_http_2_too_the_host_that_is_judged_is_the_one_that_is_told(place):
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
                        answer = two(place).ask([*fields, *((name.lower(), value) for name, value in FORGED)])
                        judged_as_told(place, answer, f"{fields}", who)
                        place.close()


def two(place):
    made = HTTP2(place.proxy.port, place.proxy.certificate[0], NAME)
    place.open_browsers.append(made)
    return made.begin()


@scenario
def the_port_that_a_browser_has_asked_arrives(place):
    """An application builds addresses and checks Origin with it."""
    for host in (f"{NAME}:{place.proxy.port}", NAME, f"{NAME}:8443"):
        fields = dict(seen(place.member("ann").ask("/desk", kind=FETCH, host=host)))
        equal((fields["host"], fields["x-forwarded-host"]), (host, host))
        browser = place.browser()
        answer = browser.ask("/desk", host=host)
        refused(answer, 302, 303)
        true(urllib.parse.urlsplit(answer.field("location")).netloc in ("", host), f"{host}: {answer}")


@scenario
def what_could_mislead_the_application_does_not_reach_it(place):
    """Another path, method or host than the one that was asked about."""
    allowed = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "host"}
    for name in MISLEADING:
        fields = [(spelling, f"/desk; host={NAME}; DELETE") for spelling in spellings(name)]
        for browser, path in ((place.browser(), "/public"), (place.member("ann"), "/desk")):
            found = [pair for pair in seen(browser.ask(path, fields=fields, kind=FETCH))
                     if pair[0].replace("_", "-").replace(".", "-") == name.lower()]
            true(not any("DELETE" in value for _, value in found), f"the application is sent {found}")
    fields = [(spelling, "elsewhere.example.com") for name in ("X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For")
              for spelling in spellings(name)]
    for name, value in seen(place.member("ann").ask("/desk", fields=fields, kind=FETCH)):
        true("elsewhere" not in value, f"{name}: {value}")
        true(name in allowed or not name.replace("_", "-").replace(".", "-").startswith("x-forwarded"), f"{name}: {value}")


@scenario
def no_field_of_the_connection_has_the_application_drop_who_it_is(place):
    """A server or a library before the application that obeys Connection would take out what it names."""
    for names in ("Remote-User", "remote-user, Remote-Groups", "Remote-User, close", "keep-alive, Remote-Realm", "X-Forwarded-Host, Host",
                  "Upgrade, Remote-User", "Remote-User, Upgrade"):
        # HAProxy passes no WebSocket on that has no key.
        for more in ([], [("Upgrade", "websocket"), ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Sec-WebSocket-Version", "13")]):
            answer = place.member("ann").ask("/desk", fields=[("Connection", names), *more, *FORGED], kind=FETCH)
            equal(identity(answer), told("ann"), names)
            words = {word.strip().lower() for name, value in seen(answer) if name in ("connection", "proxy-connection", "keep-alive")
                     for word in value.split(",")}
            true(words <= {"", "close", "keep-alive", "upgrade"}, f"the application is sent Connection: {words}")


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
                arrived_without(answer, f"{path} {declared} {len(body)}", who)
                fields = [(":method", "POST"), (":scheme", "https"), (":authority", browser.host), (":path", path),
                          *((name.lower(), value) for name, value in declared)]
                if who:
                    fields.append(("cookie", f"{SESSION}={browser.cookies[SESSION]}"))
                body = body[:16_000]
                for length in ([], [("content-length", str(len(body)))]):
                    answer = two(place).ask([*fields, *length], body, [(name.lower(), value) for name, value in FORGED])
                    # nginx ends the connection at trailers.
                    if answer is not None:
                        arrived_without(answer, f"HTTP/2 {path} {declared} {length} {len(body)}", who)
                place.close()


def arrived_without(answer, what, who):
    """A request with trailers is refused, or arrives without them."""
    true(answer is not None, f"{what}: no answer")
    if answer.field("x-application") is None:
        true(400 <= answer.status < 500, f"{what}: {answer}")
        return
    request = said(answer)
    equal(request["trailers"], [], what)
    equal([pair for pair in identity_of(request["fields"]) if pair[1]], told(who) if who else [], what)


@scenario
def bodies_of_unknown_length_arrive(place):
    for size in (0, 9, 100_000):
        browser = place.member("ann")
        lines = ["POST /desk HTTP/1.1", f"Host: {browser.host}", "Transfer-Encoding: chunked", f"Cookie: {SESSION}={browser.cookies[SESSION]}"]
        chunk = b"%x\r\n%s\r\n" % (size, b"x" * size) if size else b""
        answer = browser.connection.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + chunk + b"0\r\n\r\n")
        equal(identity(answer), told("ann"), size)


@scenario
def cookies_of_12_kilobytes_fit(place):
    """Browsers send up to 4 KB a cookie, and applications set several."""
    jar = "; ".join(f"application-{number}={'x' * 3000}" for number in range(4))
    token = place.member("ann").cookies[SESSION]
    for cookies in (f"{jar}; {SESSION}={token}", f"{SESSION}={token}; {jar}"):
        answer = place.browser().ask("/desk", fields=[("Cookie", cookies)])
        equal(identity(answer), told("ann"))
        equal([value.strip("; ") for name, value in seen(answer) if name == "cookie"], [jar])
        answer = two(place).ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/desk"),
                                 *(("cookie", crumb) for crumb in cookies.split("; "))])
        equal(identity(answer), told("ann"))
    refused(place.browser().ask("/desk", fields=[("Cookie", jar)]), 302, 303)
    refused(place.browser().ask("/desk", fields=[("Cookie", jar)], kind=FETCH), 401)
    equal(place.browser().ask(f"{PREFIX}/sign-in", fields=[("Cookie", jar)]).status, 200)


@scenario
def an_address_of_4_kilobytes_leads_to_the_sign_in_page(place):
    """It comes back in the page's own address, longer than it was."""
    for length in (2000, 4000, 6000):
        answer = place.browser().ask("/desk?" + "x=%26&" * (length // 6), kind=NAVIGATION)
        refused(answer, 302, 303)
        page = answer.field("location")
        true("/sign-in" in page, answer)
        if length == 2000:
            equal(place.browser().ask(page[page.index("/gatehouse"):]).status, 200)


@scenario
def a_method_that_no_rule_allows_is_refused_as_such_where_the_proxy_can(place):
    equal(place.browser().ask("/reading", kind=FETCH).status, 200)
    answer = place.browser().ask("/reading", "POST", body=b"x", kind=FETCH, fields=[("X-HTTP-Method-Override", "GET")])
    if place.proxy.flavour == "nginx":
        refused(answer, 403)
    else:
        refused(answer, 405)
        equal(answer.field("allow"), "GET, HEAD", answer)


def commands(heading):
    """The curl commands of a section of docs/forward-auth.md, each with the comment behind it."""
    with open(os.path.join(DOCS, "..", "forward-auth.md")) as file:
        text = file.read().partition(f"\n## {heading}\n")[2].partition("\n## ")[0].replace("\\\n", " ")
    return [line.partition(" # ")[::2] for line in text.splitlines() if line.startswith("curl ")]


def answers(command, authority, replacements):
    """What curl prints for a command of the page, at the ports of this run."""
    for word, value in replacements.items():
        command = command.replace(word, value)
    words = shlex.split(command)
    done = subprocess.run([words[0], "--silent", "--max-time", "30", "--cacert", authority, *words[1:]], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    true(head, f"{command}: {done.stderr.decode(errors='replace')} {done.returncode}")
    return Answer(head, body)


@scenario
def the_commands_of_the_page_answer_as_it_says(place):
    port = place.proxy.port
    found = commands("Trying it")[:-1]
    equal(len(found), 7)
    for command, comment in found:
        answer = answers(f"{command} --resolve {NAME}:{port}:127.0.0.1", place.proxy.certificate[0], {
            f"https://{NAME}/": f"https://{NAME}:{port}/", "-u ann ": f"-u 'ann:{PASSWORDS['ann']}' "})
        wanted = [int(status) for status in re.findall(r"\b[1-5]\d\d\b", comment.partition("(")[0].partition("never")[0])]
        true(answer.status in wanted, f"{command}: {comment}: {answer}")
        if 200 in wanted:
            equal(identity(answer), told("ann"), command)
