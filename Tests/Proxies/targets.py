# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Targets of requests that are no paths: whoever reads them in another way than the proxy sees another request than was asked about."""

import os
import random

from client import FETCH, SESSION
from hosts import FORGED, signed_in, two
from impostor import Impostor
from scenarios import equal, kept_out, told, true
from world import NAME, OPEN_HOST, PREFIX, identity, identity_of, said

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def arrives_as_a_path(place, before, what):
    """What came through since is in origin form, and whoever has no session is nobody to the application."""
    for request in place.application.requests[before:]:
        true(request["target"].startswith("/") or request["target"] == "*", f"{what} reached the application as {request['target']!r}")
        equal([pair for pair in identity_of(request["fields"]) if pair[1]], [], what)


# Between the scheme and the path: who ends the host at one of these reads another path.
BETWEEN = ["?action=delete&x=@", "?@", "#@", "\\@", "\\desk?@", "@", ":443?@", "%2f@", ";@", ",", "[::1]@", "a@b@", "%00@", "?\\@", "?", "#", "\\"]
# No scheme of ours, or one that hides the rest: Go takes the first for an opaque address.
OPAQUE = [f"x:https://{NAME}{PREFIX}/style.css?action=delete", f"https:https://{NAME}{PREFIX}/style.css", f"x:https://{NAME}{PREFIX}/sign-in",
          f"x:https://{NAME}/public/x", f"x:https://{NAME}{PREFIX}/auth/envoy/public?action=delete", f"x:https://{NAME}/", f"x:/public",
          f"https:{PREFIX[1:]}/style.css", "x:*", "x:?a", "x:public", f"ftp://{NAME}/public", f"gopher://{NAME}/public", f"wss://{NAME}/public",
          f"//{NAME}/public", f"https:/{NAME}/public", f"https:///{NAME}/public", f"https:///public", "https://", "https:", ":", "x:", "?/public",
          "#/public", "@/public", "public", f"{NAME}/public", f"{NAME}:443/public"]


@scenario
def no_target_that_others_read_otherwise_reaches_the_application_as_it_is(place):
    targets = [*OPAQUE, *(f"{scheme}{host}{between}{other}/public/x" for scheme in ("https://", "http://", "HTTPS://", "x://")
                          for host in (NAME, OPEN_HOST, "") for between in BETWEEN for other in (NAME, OPEN_HOST))]
    for name in (NAME, OPEN_HOST):
        browser = signed_in(place, name, None)
        for target in targets:
            for method in ("GET", "POST") if target in OPAQUE else ("POST",):
                before = len(place.application.requests)
                browser.ask(target, method, kind=FETCH, host=name)
                arrives_as_a_path(place, before, f"{method} {target}, Host: {name}")


@scenario
def a_target_in_doubt_is_refused(place):
    """nginx reads a path of its own out of an address, and both asks about it and passes it on; the others refuse."""
    if place.proxy.flavour == "nginx":
        return
    for target in (f"https://{OPEN_HOST}?action=delete&x=@{NAME}/public", f"x:https://{NAME}{PREFIX}/style.css?action=delete",
                   f"https://{OPEN_HOST}@{NAME}/public", f"https://{NAME}?/public", f"ftp://{NAME}/public", f"x:https://{NAME}/public"):
        for who in (None, "ann"):
            browser = place.member(who) if who else place.browser()
            before = len(place.application.requests)
            answer = browser.ask(target, "POST", kind=FETCH, host=NAME)
            true(answer is not None and answer.status == 400, f"{target}: {answer}")
            equal(place.application.requests[before:], [], target)


@scenario
def an_address_in_the_request_line_arrives_as_its_path_or_is_refused(place):
    for target, path in ((f"https://{NAME}/desk?x=1", "/desk?x=1"), (f"https://{NAME}:{place.proxy.port}/desk/a%20b?x=@y/z?",
                         "/desk/a%20b?x=@y/z?"), (f"http://{NAME}/desk", "/desk"), ("/desk?x=https://y@z/?", "/desk?x=https://y@z/?"),
                         ("/desk", "/desk"), ("/desk/?", "/desk/?")):
        answer = place.member("ann").ask(target, kind=FETCH, host=f"{NAME}:{place.proxy.port}" if str(place.proxy.port) in target else NAME)
        if target.startswith("/") or answer is None or answer.status != 400:
            equal((said(answer)["target"], identity(answer)), (path, told("ann")), target)
        answer = place.browser().ask(target.replace(path, f"{PREFIX}/style.css"), kind=FETCH, host=NAME)
        true(answer is not None and answer.status in (200, 400), answer)


@scenario
def over_http_2_too_it_is_a_path_that_arrives(place):
    for scheme in ("https", "http", "ftp", "x", "", "https://x", "x:https"):
        for authority in (NAME, f"{OPEN_HOST}@{NAME}", f"{OPEN_HOST}?x=@{NAME}", f"{OPEN_HOST}?x=@{NAME}/", f"{NAME}?", ""):
            for path in ("/public", f"https://{NAME}/public", f"x:https://{NAME}{PREFIX}/style.css", "*", "public", "?/public", ""):
                before = len(place.application.requests)
                answer = two(place).ask([(":method", "POST"), (":scheme", scheme), (":authority", authority), (":path", path),
                                         *((name.lower(), value) for name, value in FORGED)])
                place.close()
                arrives_as_a_path(place, before, f"{scheme} {authority} {path}")
                if scheme in ("ftp", "x") and place.proxy.flavour == "haproxy":
                    true(answer is None or answer.status in (400, 404), f"{scheme} {authority} {path}: {answer}")
    token = place.member("ann").cookies[SESSION]
    answer = two(place).ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/desk?x=@y"),
                             ("cookie", f"{SESSION}={token}")])
    equal((said(answer)["target"], identity(answer)), ("/desk?x=@y", told("ann")))


WORDS = ["/", "//", "\\", "?", "#", "@", ":", ";", ".", "..", "%2f", "%2e", "%5c", "%00", "%3f", "%23", "public", "desk", "gatehouse", "auth",
         "style.css", "sign-in", NAME, OPEN_HOST, "x", "https:", "http:", "https://", "://", "&", "=", "*", " ", "\t", "%", "[", "]", "{", "}",
         "\x7f", "\xff", "|", "+", "~"]
BEGINNINGS = ["/public", "/public/x", f"https://{NAME}/public", f"https://{NAME}", f"x:https://{NAME}{PREFIX}/style.css", f"{PREFIX}/", ""]


@scenario
def four_hundred_targets_of_words_in_any_order_arrive_as_paths_or_not_at_all(place):
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
            # An answer as of HTTP/0.9: no head.
            browser.close()
        arrives_as_a_path(place, before, repr(target))
        arrived += len(place.application.requests) - before
    true(arrived > 20, f"only {arrived} have arrived: nothing was tried")


@scenario
def a_page_of_gatehouse_is_no_yes(place):
    """Whatever answers 200 without saying who it is about. nginx cannot tell; its question is always at the same path."""
    if place.proxy.flavour == "nginx":
        return
    state = os.path.join(place.gatehouse.folder.path, "state")
    place.gatehouse.stop()
    try:
        with Impostor(place.gatehouse.port, [os.path.join(state, "development-certificate.pem"), key_in(state)], fields=()) as page:
            for path in ("/desk", "/public"):
                answer = place.browser().ask(path, kind=FETCH)
                kept_out(answer)
                true(answer is not None and answer.status >= 400, answer)
            true(page.asked > 0, "it was not asked")
    finally:
        place.gatehouse.start()


def key_in(state):
    found, = (os.path.join(state, name) for name in os.listdir(state) if name.startswith("development") and not name.endswith("certificate.pem"))
    return found
