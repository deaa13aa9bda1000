# SPDX-License-Identifier: Apache-2.0
"""Tests of request targets that are not paths. Another program might read them differently than the proxy."""

import os
import random

from client import FETCH, SESSION
from hosts_and_fields import FORGED, signed_in, http2_client
from fake_gatehouse import Impostor
from scenarios import expect_equal, expect_denied, identity_fields, expect
from proxy_fixture import NAME, OPEN_HOST, PREFIX, identity, identity_of, received_request

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def expect_paths_only(place, before, what):
    """All requests since `before` must have arrived with a path as their target, and without an identity."""
    for request in place.application.requests[before:]:
        expect(request["target"].startswith("/") or request["target"] == "*", f"{what} reached the application as {request['target']!r}")
        expect_equal([pair for pair in identity_of(request["fields"]) if pair[1]], [], what)


# Text between two hosts of a URL. A parser that ends the host here reads another path.
BETWEEN = ["?action=delete&x=@", "?@", "#@", "\\@", "\\desk?@", "@", ":443?@", "%2f@", ";@", ",", "[::1]@", "a@b@", "%00@", "?\\@", "?", "#", "\\"]
# URLs with another scheme, opaque URLs and incomplete URLs. Go reads the first one as an opaque URL.
OPAQUE = [f"x:https://{NAME}{PREFIX}/style.css?action=delete", f"https:https://{NAME}{PREFIX}/style.css", f"x:https://{NAME}{PREFIX}/sign-in",
          f"x:https://{NAME}/public/x", f"x:https://{NAME}{PREFIX}/auth/envoy/public?action=delete", f"x:https://{NAME}/", f"x:/public",
          f"https:{PREFIX[1:]}/style.css", "x:*", "x:?a", "x:public", f"ftp://{NAME}/public", f"gopher://{NAME}/public", f"wss://{NAME}/public",
          f"//{NAME}/public", f"https:/{NAME}/public", f"https:///{NAME}/public", f"https:///public", "https://", "https:", ":", "x:", "?/public",
          "#/public", "@/public", "public", f"{NAME}/public", f"{NAME}:443/public"]


@scenario
def every_target_that_reaches_the_application_is_a_path(place):
    targets = [*OPAQUE, *(f"{scheme}{host}{between}{other}/public/x" for scheme in ("https://", "http://", "HTTPS://", "x://")
                          for host in (NAME, OPEN_HOST, "") for between in BETWEEN for other in (NAME, OPEN_HOST))]
    for name in (NAME, OPEN_HOST):
        browser = signed_in(place, name, None)
        for target in targets:
            for method in ("GET", "POST") if target in OPAQUE else ("POST",):
                before = len(place.application.requests)
                browser.ask(target, method, kind=FETCH, host=name)
                expect_paths_only(place, before, f"{method} {target}, Host: {name}")


@scenario
def an_ambiguous_target_gets_400(place):
    """nginx reads a path from the URL, asks about it and passes it on. The other proxies reject the target."""
    if place.proxy.flavour == "nginx":
        return
    for target in (f"https://{OPEN_HOST}?action=delete&x=@{NAME}/public", f"x:https://{NAME}{PREFIX}/style.css?action=delete",
                   f"https://{OPEN_HOST}@{NAME}/public", f"https://{NAME}?/public", f"ftp://{NAME}/public", f"x:https://{NAME}/public"):
        for who in (None, "ann"):
            browser = place.member(who) if who else place.browser()
            before = len(place.application.requests)
            answer = browser.ask(target, "POST", kind=FETCH, host=NAME)
            expect(answer is not None and answer.status == 400, f"{target}: {answer}")
            expect_equal(place.application.requests[before:], [], target)


@scenario
def a_complete_url_in_the_request_line_arrives_as_its_path_or_gets_400(place):
    for target, path in ((f"https://{NAME}/desk?x=1", "/desk?x=1"), (f"https://{NAME}:{place.proxy.port}/desk/a%20b?x=@y/z?",
                         "/desk/a%20b?x=@y/z?"), (f"http://{NAME}/desk", "/desk"), ("/desk?x=https://y@z/?", "/desk?x=https://y@z/?"),
                         ("/desk", "/desk"), ("/desk/?", "/desk/?")):
        answer = place.member("ann").ask(target, kind=FETCH, host=f"{NAME}:{place.proxy.port}" if str(place.proxy.port) in target else NAME)
        if target.startswith("/") or answer is None or answer.status != 400:
            expect_equal((received_request(answer)["target"], identity(answer)), (path, identity_fields("ann")), target)
        answer = place.browser().ask(target.replace(path, f"{PREFIX}/style.css"), kind=FETCH, host=NAME)
        expect(answer is not None and answer.status in (200, 400), answer)


@scenario
def over_http_2_every_target_that_reaches_the_application_is_a_path(place):
    for scheme in ("https", "http", "ftp", "x", "", "https://x", "x:https"):
        for authority in (NAME, f"{OPEN_HOST}@{NAME}", f"{OPEN_HOST}?x=@{NAME}", f"{OPEN_HOST}?x=@{NAME}/", f"{NAME}?", ""):
            for path in ("/public", f"https://{NAME}/public", f"x:https://{NAME}{PREFIX}/style.css", "*", "public", "?/public", ""):
                before = len(place.application.requests)
                answer = http2_client(place).ask([(":method", "POST"), (":scheme", scheme), (":authority", authority), (":path", path),
                                         *((name.lower(), value) for name, value in FORGED)])
                place.close()
                expect_paths_only(place, before, f"{scheme} {authority} {path}")
                if scheme in ("ftp", "x") and place.proxy.flavour == "haproxy":
                    expect(answer is None or answer.status in (400, 404), f"{scheme} {authority} {path}: {answer}")
    token = place.member("ann").cookies[SESSION]
    answer = http2_client(place).ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/desk?x=@y"),
                             ("cookie", f"{SESSION}={token}")])
    expect_equal((received_request(answer)["target"], identity(answer)), ("/desk?x=@y", identity_fields("ann")))


@scenario
def a_path_that_programs_read_differently_arrives_as_it_was_checked_if_the_rule_allows_it(place):
    targets = ("/packages/@scope%2fname", "/packages/@scope%2Fn%61me?x=%2f;y", "/packages/a%252Fb", "/packages/a%25", "/packages/a;b=c/d",
               "/packages/a//b", "/packages/%23a%3Fb")
    for target in targets:
        answer = place.member("bob").ask(target, kind=FETCH)
        expect_equal((received_request(answer)["target"], identity(answer)), (target, identity_fields("bob")), target)
    token = place.member("bob").cookies[SESSION]
    for target in targets:
        answer = http2_client(place).ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", target),
                                          ("cookie", f"{SESSION}={token}")])
        expect_equal((received_request(answer)["target"], identity(answer)), (target, identity_fields("bob")), target)
        place.close()


@scenario
def a_path_of_which_one_reading_has_another_rule_is_denied(place):
    for target in ("/packages/private%2fx", "/packages//private/x", "//packages/private/x", "/packages/private;x/y", "/packages/;a/private/x",
                   "/packages/x%2f..%2fprivate/y", "/packages/x;/../private", "/packages%2fprivate/x", "/packages/private%252fx",
                   "/packages/private%3Fx", "/desk%2fpackages/x", "/packages/..%2fdesk", "/public//packages/x", "/packages/a%5cb", "/desk;x"):
        for who in ("ann", "bob", None):
            browser = place.member(who) if who else place.browser()
            before = len(place.application.requests)
            expect_denied(browser.ask(target, kind=FETCH))
            expect_equal(place.application.requests[before:], [], (who, target))
    expect_equal(place.member("bob").ask("/packages/private/x", kind=FETCH).status, 403)
    expect_equal(identity(place.member("ann").ask("/packages/private/x%2fy", kind=FETCH)), identity_fields("ann"))


WORDS = ["/", "//", "\\", "?", "#", "@", ":", ";", ".", "..", "%2f", "%2e", "%5c", "%00", "%3f", "%23", "public", "desk", "gatehouse", "auth",
         "style.css", "sign-in", NAME, OPEN_HOST, "x", "https:", "http:", "https://", "://", "&", "=", "*", " ", "\t", "%", "[", "]", "{", "}",
         "\x7f", "\xff", "|", "+", "~"]
BEGINNINGS = ["/public", "/public/x", f"https://{NAME}/public", f"https://{NAME}", f"x:https://{NAME}{PREFIX}/style.css", f"{PREFIX}/", ""]


@scenario
def of_400_random_targets_only_paths_reach_the_application(place):
    chosen, arrived = random.Random(1), 0
    browser = place.browser()
    for _ in range(400):
        target = chosen.choice(BEGINNINGS)
        if chosen.random() < 0.4:
            at = chosen.randint(0, len(target))
            target = target[:at] + "".join(chosen.choices(WORDS, k=chosen.randint(1, 3))) + target[at:]
        target += "".join(chosen.choices(WORDS, k=chosen.randint(0, 5)))
        before = len(place.application.requests)
        try:
            browser.ask(target.encode("latin-1"), kind=FETCH, host=NAME)
        except (ValueError, IndexError):
            # An answer without a head, as in HTTP/0.9.
            browser.close()
        expect_paths_only(place, before, repr(target))
        arrived += len(place.application.requests) - before
    expect(arrived > 20, f"only {arrived} requests have arrived: the test shows nothing")


@scenario
def a_200_without_identity_fields_allows_no_request(place):
    """Not with nginx: it looks at the status alone, and always requests the same path."""
    if place.proxy.flavour == "nginx":
        return
    state = os.path.join(place.gatehouse.folder.path, "state")
    place.gatehouse.stop()
    try:
        with Impostor(place.gatehouse.port, [os.path.join(state, "development-certificate.pem"), os.path.join(state, "development-key.pem")], fields=()) as page:
            for path in ("/desk", "/public"):
                answer = place.browser().ask(path, kind=FETCH)
                expect_denied(answer)
                expect(answer is not None and answer.status >= 400, answer)
            expect(page.asked > 0, "it has received no authorization request")
    finally:
        place.gatehouse.start()
