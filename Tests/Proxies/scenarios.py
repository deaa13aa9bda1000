# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""What must hold behind every proxy. Each function is one sentence; what it asserts is what a person would look at."""

import base64
import time
import urllib.parse

import crowd
from client import FETCH, SESSION, Browser, form
from impostor import Impostor
from world import GROUPS, NAME, PASSWORDS, PREFIX, certificate, identity, seen


SCENARIOS = []


def scenario(function):
    """Marks what is to be run, in the order of the file."""
    SCENARIOS.append(function)
    return function


class Place:
    """A proxy that runs, with Gatehouse and application behind it."""

    def __init__(self, proxy, gatehouse, application):
        self.proxy, self.gatehouse, self.application = proxy, gatehouse, application
        self.open_browsers = []
        self.signed_in = {}

    def browser(self, **words):
        made = Browser(self.proxy.port, self.proxy.certificate[0], NAME, **words)
        self.open_browsers.append(made)
        return made

    def member(self, name):
        """A browser in which somebody is signed in; the session is the same every time, the connection is not."""
        made = self.browser()
        if name not in self.signed_in or self.browser_is_out(name):
            first = self.browser()
            answer = first.sign_in(sign_in_page(first, "/shared"), name, PASSWORDS[name])
            equal(answer.status, 303, answer)
            self.signed_in[name] = dict(first.cookies)
        made.cookies = dict(self.signed_in[name])
        return made

    def browser_is_out(self, name):
        made = self.browser()
        made.cookies = dict(self.signed_in[name])
        return made.ask("/shared", kind=FETCH).status != 200

    def close(self):
        for browser in self.open_browsers:
            browser.close()
        self.open_browsers = []


def equal(value, wanted, what=""):
    if value != wanted:
        raise AssertionError(f"{value!r} instead of {wanted!r}: {what}")


def true(value, what):
    if not value:
        raise AssertionError(what)


def refused(answer, *statuses):
    """No, and the application has not been asked."""
    true(answer is not None, "the connection was closed without an answer")
    true(answer.field("x-application") is None, f"the application has answered: {answer}")
    true(answer.status in statuses, f"{answer.status} instead of {statuses}: {answer}")


def kept_out(answer):
    """A refusal of any kind: the end of the connection, or the nothing with 200 that Caddy has for hosts it does not know."""
    true(answer is None or answer.field("x-application") is None and (answer.status != 200 or not answer.body),
         f"got in: {answer}")


def let_in(place):
    """Whoever may come in does: the proxy and the server are still there."""
    try:
        equal(place.member("ann").ask("/desk", kind=FETCH).status, 200)
    finally:
        place.close()


def told(name):
    """What the application must be told of somebody: percent-encoded."""
    groups = ",".join(urllib.parse.quote(group, safe="") for group in GROUPS[name])
    return [("remote-groups", groups), ("remote-realm", "town"), ("remote-user", name)]


def basic(name, password=None):
    pair = f"{name}:{PASSWORDS[name] if password is None else password}"
    return [("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())]


def sign_in_page(browser, wanted):
    """Where a navigation to `wanted` is sent."""
    answer = browser.ask(wanted)
    refused(answer, 302, 303)
    page = browser.path_of(answer.field("location"))
    true(page.startswith(PREFIX + "/sign-in"), page)
    return page


# Who is let in

@scenario
def whoever_is_signed_in_gets_in_and_the_application_is_told_who_it_is(place):
    equal(identity(place.member("ann").ask("/desk?x=1")), told("ann"))
    equal(identity(place.member("bob").ask("/shared/a", kind=FETCH)), told("bob"))


@scenario
def a_name_and_password_in_the_request_get_in_where_the_rule_offers_basic(place):
    browser = place.browser()
    equal(identity(browser.ask("/desk", fields=basic("ann"), kind=FETCH)), told("ann"))
    refused(browser.ask("/desk", fields=basic("ann", "wrong"), kind=FETCH), 401)
    refused(browser.ask("/form", fields=basic("ann"), kind=FETCH), 401)


@scenario
def an_open_place_is_open_and_the_application_is_told_of_nobody(place):
    for browser in (place.browser(), place.member("ann")):
        answer = browser.ask("/public/x")
        equal([value for _, value in identity(answer) if value], [], answer)


@scenario
def every_method_and_body_arrives(place):
    browser = place.member("ann")
    for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        answer = browser.ask("/desk", method, body=b"" if method == "HEAD" else b"some body", kind=FETCH)
        equal((answer.status, answer.field("x-application")), (200, "yes"), f"{method}: {answer}")


# Who is not

@scenario
def whoever_is_in_another_group_is_refused_without_being_asked_again(place):
    for answer in (place.member("bob").ask("/desk"), place.member("bob").ask("/desk", kind=FETCH),
                   place.browser().ask("/desk", fields=basic("bob"), kind=FETCH)):
        refused(answer, 403)
        equal(answer.field("www-authenticate"), None)


@scenario
def a_person_is_sent_to_the_sign_in_page_and_back(place):
    browser = place.browser()
    answer = browser.sign_in(sign_in_page(browser, "/desk/a%20b?x=1&y=%26"), "ann", PASSWORDS["ann"])
    true(answer.status == 303, answer)
    path = browser.path_of(answer.field("location"))
    equal(path, "/desk/a%20b?x=1&y=%26")
    equal(identity(browser.ask(path)), told("ann"))


@scenario
def a_wrong_password_leads_back_to_the_page(place):
    browser = place.browser()
    answer = browser.sign_in(sign_in_page(browser, "/desk"), "ann", "wrong")
    true(answer.status in (200, 303, 401, 403), answer)
    true(SESSION not in browser.cookies, "there is a session")
    refused(browser.ask("/desk", kind=FETCH), 401)


@scenario
def a_program_is_told_401(place):
    browser = place.browser()
    refused(browser.ask("/desk", kind=FETCH), 401)
    answer = browser.ask("/desk", kind={})
    refused(answer, 401)
    true(any(value.lower().startswith("basic ") for value in answer.all("www-authenticate")), answer)
    refused(browser.ask("/desk", "POST", body=b"x", kind=FETCH), 401)


@scenario
def a_form_that_is_sent_without_a_session_is_sent_to_the_page_by_303(place):
    answer = place.browser().ask("/desk", "POST", body=b"a=b")
    refused(answer, 303)
    true("/sign-in" in answer.field("location"), answer)


@scenario
def a_session_that_was_signed_out_is_out(place):
    browser = place.browser()
    browser.sign_in(sign_in_page(browser, "/shared"), "bob", PASSWORDS["bob"])
    taken = dict(browser.cookies)
    account = browser.ask(PREFIX + "/account")
    equal(account.status, 200, account)
    action, values = form(account, "csrf")
    true(action and action.endswith(("/sign-out", "/account/end")), f"no form to sign out: {action}")
    equal(browser.submit(PREFIX + "/sign-out", values).status, 303)
    browser.cookies = taken
    refused(browser.ask("/shared", kind=FETCH), 401)


@scenario
def a_session_that_an_administrator_has_ended_is_out(place):
    browser = place.member("bob")
    equal(browser.ask("/shared", kind=FETCH).status, 200)
    place.gatehouse.end_sessions("bob")
    # The server looks at its store every second or so.
    until = time.monotonic() + 3
    while browser.ask("/shared", kind=FETCH).status == 200 and time.monotonic() < until:
        time.sleep(0.05)
    refused(browser.ask("/shared", kind=FETCH), 401)
    refused(browser.ask("/shared"), 302, 303)


@scenario
def cookies_that_are_no_session_are_nobodys(place):
    browser = place.browser()
    real = place.member("ann").cookies[SESSION]
    for value in ("", "x", "A" * 43, real[:-1], real + "A", '"' + real + '"', real.swapcase(), "A" * 5000):
        kept_out(browser.ask("/desk", fields=[("Cookie", f"{SESSION}={value}")], kind=FETCH))
    for cookies in (f"{SESSION}={real}; {SESSION}={'A' * 43}", f"{SESSION}={'A' * 43}; {SESSION}={real}",
                    f"{SESSION}={real}; {SESSION}={real}", f"{SESSION.lower()}={real}", f"gatehouse={real}"):
        kept_out(browser.ask("/desk", fields=[("Cookie", cookies)], kind=FETCH))


@scenario
def a_host_that_is_not_ours_gets_nothing(place):
    for host in ("other.example.com", "open.example.com", "app.example.com.evil.example", "localhost", "127.0.0.1"):
        kept_out(place.member("ann").ask("/desk", kind=FETCH, host=host))


# Words that clients put into others' mouths

@scenario
def identity_fields_of_a_client_never_reach_the_application(place):
    forged = [(name, "root") for name in (
        "Remote-User", "REMOTE-USER", "remote_user", "Remote_User", "Remote-User", "Remote-Groups", "remote_groups",
        "Remote-Realm", "remote_realm", "Remote-Groups", "Remote-User", "Remote.User", "remote~user", "Remote+Groups", "Remote!Realm",
        "Remote^User", "Remote|User", "Remote#User", "Remote*User", "Remote%User", "Remote`User", "Remote$User",
        "Remote&User", "Remote'User")]
    equal(identity(place.member("ann").ask("/desk", fields=forged)), told("ann"))
    equal(identity(place.browser().ask("/desk", fields=forged + basic("ann"), kind=FETCH)), told("ann"))
    for browser in (place.browser(), place.member("ann")):
        equal([value for _, value in identity(browser.ask("/public", fields=forged)) if value], [])
    refused(place.browser().ask("/desk", fields=forged, kind=FETCH), 401)
    # A field that Connection names is taken out by proxies: it must be put in after that.
    for names in ("Remote-User", "remote-user, Remote-Groups", "X-Forwarded-Uri, X-Forwarded-Host", "X-Original-URL",
                  "Cookie, Remote-User"):
        answer = place.member("ann").ask("/desk", fields=[("Connection", names), *forged])
        if answer is not None and answer.status == 200:
            equal(identity(answer), told("ann"), f"Connection: {names}")
        answer = place.member("bob").ask("/desk", fields=[("Connection", names)], kind=FETCH)
        kept_out(answer)


@scenario
def addresses_that_a_client_makes_up_change_nothing(place):
    elsewhere = [(name, value) for name, value in (
        ("X-Forwarded-Uri", "/public"), ("X-Forwarded-Path", "/public"), ("X-Original-URL", f"https://{NAME}/public"),
        ("X-Original-URI", "/public"), ("X-Rewrite-URL", "/public"), ("X-Forwarded-Host", NAME),
        ("X-Forwarded-Method", "OPTIONS"), ("X-Original-Method", "OPTIONS"), ("X-Forwarded-Proto", "http"),
        ("X-Forwarded-Prefix", "/public"), ("Forwarded", f"for=127.0.0.1;host={NAME};proto=https"),
        ("X_Forwarded_Uri", "/public"), ("X-HTTP-Method-Override", "OPTIONS"))]
    for fields in [[one] for one in elsewhere] + [elsewhere, elsewhere * 2]:
        refused(place.browser().ask("/desk", fields=fields, kind=FETCH), 401)
        refused(place.member("bob").ask("/desk", fields=fields, kind=FETCH), 403)
        equal(identity(place.member("ann").ask("/desk", fields=fields, kind=FETCH)), told("ann"))


@scenario
def the_application_is_told_the_true_address_of_the_client(place):
    answer = place.browser(source="127.0.0.9").ask("/public", fields=[("X-Forwarded-For", "10.1.2.3")])
    values = [value for name, value in seen(answer) if name == "x-forwarded-for"]
    true(values and values[-1].split(",")[-1].strip() == "127.0.0.9", values)


@scenario
def a_request_line_with_another_host_does_not_get_around_the_rules(place):
    for target in (f"https://{NAME}/desk", f"http://{NAME}/desk", "https://evil.example/desk",
                   f"https://{NAME}:1/desk", f"https://{NAME}@evil.example/desk"):
        # The third is open: whoever asks about the one and serves the other lets everybody in.
        for host in (None, "evil.example", "open.example.com", NAME):
            kept_out(place.browser().ask(target, kind=FETCH, host=host))
            kept_out(place.member("bob").ask(target, kind=FETCH, host=host))


ODD_PATHS = [
    "/public%2f..%2fdesk", "/public/..%2fdesk", "/public/../desk", "/public/./../desk", "/public/%2e%2e/desk",
    "/public/.%2e/desk", "/public/%2E%2E%2Fdesk", "/public//../desk", "//desk", "/public//desk", "//public/../desk",
    "/public;/../desk", "/public/..;/desk", "/;/desk", "/desk;x=1", "/public\\..\\desk", "/public/..\\desk",
    "/public/..%5cdesk", "/public%5c..%5cdesk", "/desk%00", "/public%00/../desk", "/public/%00", "/desk%0a",
    "/desk%0d%0aX:y", "/%64esk%", "/desk%2", "/desk%zz", "/public/%c0%ae%c0%ae/desk", "/public/%252e%252e/desk",
    "/desk#x", "/public#/../desk", "/desk%23x", "/public%3f/../desk", "/public?/../../desk/../..%2f", "public",
    "*", "/.", "/..", "/./desk", "/desk/.", "/desk/..", "/%2e/desk", "/public/%2e", "/DESK/../public/../desk",
    b"/public/\xc0\xae\xc0\xae/desk", b"/desk/\xff", b"/desk/\x00", b"/public/\x7f", b"/public\xe2\x80\xae/../desk",
    b"/desk\t", b"/public\x0b/../desk", b"/\\evil.example/desk",
    "/gatehouse/../desk", "/gatehouse/..%2fdesk", "/gatehouse/%2e%2e/desk", "/gatehouse//../desk", "/gatehouse;/../desk",
    "/gatehouse\\..\\desk", "/gatehouse/sign-in/../../desk", "/gatehouse/style.css/..%2f..%2fdesk",
]


@scenario
def no_odd_path_leads_into_a_protected_place(place):
    """The application decodes as loosely as it likes: nothing that could mean the desk may arrive without ann."""
    for who in (None, "bob"):
        for path in ODD_PATHS:
            browser = place.member(who) if who else place.browser()
            before = len(place.application.targets)
            browser.ask(path, kind=FETCH)
            browser.close()
            for target in place.application.targets[before:]:
                true(is_public(target), f"{path!r} reached the application as {target!r}, for {who or 'nobody'}")


def is_public(target):
    """Whether every way to read a target, however loose, ends below /public."""
    path = target.partition("?")[0].partition("#")[0]
    for _ in range(3):
        if any(word in path for word in ("..", ";", "\\", "//", "\0", "%00")) or not path.startswith("/public"):
            return False
        path = urllib.parse.unquote(path, "latin-1")
    return True


@scenario
def the_questions_are_for_the_proxy_alone(place):
    for flavour in ("nginx", "caddy", "traefik", "envoy", "haproxy"):
        answer = place.member("ann").ask(f"{PREFIX}/auth/{flavour}", fields=[("X-Forwarded-Uri", "/desk")])
        equal(answer.status, 404, flavour)
        # Spelled otherwise it may get past the proxy, and is answered by nobody.
        for path in (f"{PREFIX}/%61uth/{flavour}", f"{PREFIX}/auth/%{ord(flavour[0]):x}{flavour[1:]}"):
            answer = place.member("ann").ask(path, fields=[("X-Forwarded-Uri", "/desk")], kind=FETCH)
            true(answer is None or answer.status in (400, 403, 404), f"{path}: {answer}")


@scenario
def the_application_sees_neither_session_nor_password(place):
    secret = place.member("ann").cookies[SESSION]
    jars = [[("Cookie", f"{SESSION}={secret}")], [("Cookie", f"a=1; {SESSION}={secret}; b=2")],
            [("Cookie", f"{SESSION}={secret}; b=2")], [("Cookie", f"a=1; {SESSION}={secret}")],
            [("Cookie", f"a=1; __Host-gatehouse-sign-in={secret}; {SESSION}={secret}; b=2")],
            [("Cookie", f"__Host-gatehouse-sign-in={secret};{SESSION}={secret}")],
            [("Cookie", f"a=1; \t{SESSION}={secret}")], [("Cookie", f"a=1;\t{SESSION}={secret};\tb=2")],
            [("Cookie", f"a=1;\t__Host-gatehouse-sign-in={secret}; \t {SESSION}={secret}; b=2")],
            [("Cookie", f"a=1; x{SESSION}={secret[:3]}; {SESSION}={secret}; b=2")]]
    for fields in jars:
        answer = place.browser().ask("/desk", fields=fields)
        cookies = "; ".join(value for name, value in seen(answer) if name == "cookie")
        true(secret not in str(seen(answer)), f"{fields} arrived as {cookies}")
        for other in ("a=1", "b=2"):
            equal(other in cookies, other in fields[0][1], f"{fields} arrived as {cookies}")
    answer = place.browser().ask("/desk", fields=basic("ann"), kind=FETCH)
    true("authorization" not in [name for name, _ in seen(answer)], answer)


@scenario
def other_cookies_arrive_as_they_were_sent(place):
    token = place.member("ann").cookies[SESSION]
    for others in (f"a={SESSION}=9", f"x{SESSION}=1", f"a={SESSION}=9; x{SESSION}=1; b=2", f"{SESSION}-2=x", f"a=x{SESSION}-sign-in=9; c"):
        for cookies in (f"{SESSION}={token}; {others}", f"{others}; {SESSION}={token}", f"{others}; {SESSION}={token}; z=1", others):
            for path in ("/public", "/desk") if token in cookies else ("/public",):
                answer = place.browser().ask(path, fields=[("Cookie", cookies)], kind=FETCH)
                arrived = "; ".join(value.strip("; ") for name, value in seen(answer) if name == "cookie")
                equal(arrived, others + ("; z=1" if cookies.endswith("; z=1") else ""), cookies)


# Many, and none

@scenario
def two_thousand_connections_at_a_time_each_get_their_own_answer(place):
    cookies = {name: place.member(name).cookies[SESSION] for name in PASSWORDS}
    seconds = crowd.ask(place, cookies, connections=2000, rounds=3)
    print(f"        6,000 requests over 2,000 connections in {seconds:.1f} s")


@scenario
def a_session_runs_out(place):
    place.gatehouse.stop()
    place.gatehouse.start(idle="10s", absolute="60s")
    browser = place.browser()
    browser.sign_in(sign_in_page(browser, "/shared"), "bob", PASSWORDS["bob"])
    equal(browser.ask("/shared", kind=FETCH).status, 200)
    time.sleep(12)
    refused(browser.ask("/shared", kind=FETCH), 401)
    refused(browser.ask("/shared"), 302, 303)


@scenario
def somebody_else_in_the_place_of_gatehouse_is_not_believed(place):
    place.gatehouse.stop()
    try:
        with Impostor(place.gatehouse.port, certificate(place.gatehouse.folder.path, "localhost")) as impostor:
            for path in ("/desk", "/public"):
                refused(place.browser().ask(path, kind=FETCH), 500, 502, 503, 504)
            refused(place.browser().ask("/gatehouse/sign-in"), 500, 502, 503, 504)
            equal(impostor.asked, 0, "it was told of the request")
    finally:
        place.gatehouse.start()


@scenario
def nobody_gets_in_while_gatehouse_is_stopped(place):
    signed_in = place.member("ann")
    equal(signed_in.ask("/desk", kind=FETCH).status, 200)
    place.gatehouse.stop()
    for path in ("/desk", "/shared", "/public"):
        refused(signed_in.ask(path, kind=FETCH), 500, 502, 503, 504)
        refused(signed_in.ask(path), 500, 502, 503, 504)
        refused(place.browser().ask(path, fields=basic("ann"), kind=FETCH), 500, 502, 503, 504)
    place.gatehouse.start()
    equal(identity(place.member("ann").ask("/desk", kind=FETCH)), told("ann"))
