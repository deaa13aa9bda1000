# SPDX-License-Identifier: Apache-2.0
"""The tests that every proxy must pass. The name of each function is the sentence that it tests."""

import base64
import fcntl
import os
import tempfile
import time
import urllib.parse

import concurrent_sessions
from client import FETCH, SESSION, Browser, form
from fake_gatehouse import Impostor
from proxy_fixture import GROUPS, NAME, PASSWORDS, PREFIX, ZOE, certificate, identity, received_fields


SCENARIOS = []


def scenario(function):
    """Adds a function to the scenarios, which run in the order of the file."""
    SCENARIOS.append(function)
    return function


class Place:
    """A running proxy with Gatehouse and the application, and the browsers of one scenario."""

    def __init__(self, proxy, gatehouse, application):
        self.proxy, self.gatehouse, self.application = proxy, gatehouse, application
        self.open_browsers = []
        self.signed_in = {}

    def browser(self, **words):
        made = Browser(self.proxy.port, self.proxy.certificate[0], NAME, **words)
        self.open_browsers.append(made)
        return made

    def member(self, name):
        """A browser in which a user is signed in: always the same session, each time a new connection."""
        made = self.browser()
        if name not in self.signed_in or self.browser_is_out(name):
            first = self.browser()
            answer = first.sign_in(sign_in_page(first, "/shared"), name, PASSWORDS[name])
            expect_equal(answer.status, 303, answer)
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


def expect_equal(value, wanted, what=""):
    if value != wanted:
        raise AssertionError(f"{value!r} instead of {wanted!r}: {what}")


def expect(value, what):
    if not value:
        raise AssertionError(what)


def expect_rejected(answer, *statuses):
    """The answer must have one of the statuses, and the application must not have received the request."""
    expect(answer is not None, "the connection was closed without an answer")
    expect(answer.field("x-application") is None, f"the application has answered: {answer}")
    expect(answer.status in statuses, f"{answer.status} instead of {statuses}: {answer}")


def expect_denied(answer):
    """The request must not reach the application. Caddy answers unknown hosts with 200 and no body."""
    expect(answer is None or answer.field("x-application") is None and (answer.status != 200 or not answer.body),
         f"the request was allowed: {answer}")


def expect_user_allowed(place):
    """A request of a user who is allowed must succeed: the proxy and the server still run."""
    try:
        expect_equal(place.member("ann").ask("/desk", kind=FETCH).status, 200)
    finally:
        place.close()


def identity_fields(name):
    """The identity fields that the application must receive for a user, percent-encoded."""
    groups = ",".join(urllib.parse.quote(group, safe="") for group in GROUPS[name])
    return [("remote-groups", groups), ("remote-realm", "town"), ("remote-user", name)]


def basic(name, password=None):
    pair = f"{name}:{PASSWORDS[name] if password is None else password}"
    return [("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())]


def sign_in_page(browser, wanted):
    """The address of the sign-in page to which a request for `wanted` is redirected."""
    answer = browser.ask(wanted)
    expect_rejected(answer, 302, 303)
    page = browser.path_of(answer.field("location"))
    expect(page.startswith(PREFIX + "/sign-in"), page)
    return page


# Allowed requests

@scenario
def a_signed_in_user_is_allowed_and_the_application_receives_the_identity(place):
    expect_equal(identity(place.member("ann").ask("/desk?x=1")), identity_fields("ann"))
    expect_equal(identity(place.member("bob").ask("/shared/a", kind=FETCH)), identity_fields("bob"))


@scenario
def http_basic_is_accepted_only_if_the_rule_offers_it(place):
    browser = place.browser()
    expect_equal(identity(browser.ask("/desk", fields=basic("ann"), kind=FETCH)), identity_fields("ann"))
    expect_rejected(browser.ask("/desk", fields=basic("ann", "wrong"), kind=FETCH), 401)
    expect_rejected(browser.ask("/form", fields=basic("ann"), kind=FETCH), 401)


@scenario
def an_open_path_is_allowed_without_an_identity(place):
    for browser in (place.browser(), place.member("ann")):
        answer = browser.ask("/public/x")
        expect_equal([value for _, value in identity(answer) if value], [], answer)


@scenario
def requests_of_every_method_reach_the_application(place):
    browser = place.member("ann")
    for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        answer = browser.ask("/desk", method, body=b"" if method == "HEAD" else b"some body", kind=FETCH)
        expect_equal((answer.status, answer.field("x-application")), (200, "yes"), f"{method}: {answer}")


@scenario
def a_cors_preflight_is_allowed_without_an_identity_and_no_other_request(place):
    preflight = [("Origin", "https://www.example.com"), ("Access-Control-Request-Method", "PUT")]
    for path in ("/desk", "/form/x", "/packages/@scope%2fname"):
        answer = place.browser().ask(path, "OPTIONS", preflight, kind={})
        expect_equal([value for _, value in identity(answer) if value], [], answer)
        for method, fields in (("OPTIONS", []), ("OPTIONS", preflight[:1]), ("OPTIONS", preflight[1:]), ("GET", preflight), ("POST", preflight)):
            expect_rejected(place.browser().ask(path, method, fields, kind=FETCH), 401)
    # The rule for the announced method decides: no rule allows PUT here.
    expect_rejected(place.browser().ask("/reading", "OPTIONS", preflight, kind=FETCH), 403, 405)


# Denied requests

@scenario
def a_user_in_another_group_gets_403_without_a_challenge(place):
    for answer in (place.member("bob").ask("/desk"), place.member("bob").ask("/desk", kind=FETCH),
                   place.browser().ask("/desk", fields=basic("bob"), kind=FETCH)):
        expect_rejected(answer, 403)
        expect_equal(answer.field("www-authenticate"), None)


@scenario
def a_browser_is_redirected_to_the_sign_in_page_and_back(place):
    browser = place.browser()
    answer = browser.sign_in(sign_in_page(browser, "/desk/a%20b?x=1&y=%26"), "ann", PASSWORDS["ann"])
    expect(answer.status == 303, answer)
    path = browser.path_of(answer.field("location"))
    expect_equal(path, "/desk/a%20b?x=1&y=%26")
    expect_equal(identity(browser.ask(path)), identity_fields("ann"))


@scenario
def without_a_sign_in_host_a_sign_in_costs_two_redirects(place):
    """To the sign-in page of the host, and back."""
    browser = place.browser()
    answer = browser.ask("/desk")
    expect_rejected(answer, 302, 303)
    page = browser.path_of(answer.field("location"))
    answer = browser.sign_in(page, "ann", PASSWORDS["ann"])
    expect_equal((answer.status, browser.path_of(answer.field("location"))), (303, "/desk"))
    expect_equal(browser.ask("/desk").status, 200)
    expect_equal(browser.ask("/desk/next").status, 200)


@scenario
def a_wrong_password_begins_no_session(place):
    browser = place.browser()
    answer = browser.sign_in(sign_in_page(browser, "/desk"), "ann", "wrong")
    expect(answer.status in (200, 303, 401, 403), answer)
    expect(SESSION not in browser.cookies, "there is a session")
    expect_rejected(browser.ask("/desk", kind=FETCH), 401)


@scenario
def a_program_without_credentials_gets_401(place):
    browser = place.browser()
    expect_rejected(browser.ask("/desk", kind=FETCH), 401)
    answer = browser.ask("/desk", kind={})
    expect_rejected(answer, 401)
    expect(any(value.lower().startswith("basic ") for value in answer.all("www-authenticate")), answer)
    expect_rejected(browser.ask("/desk", "POST", body=b"x", kind=FETCH), 401)


@scenario
def a_post_without_a_session_is_redirected_to_the_sign_in_page_with_303(place):
    answer = place.browser().ask("/desk", "POST", body=b"a=b")
    expect_rejected(answer, 303)
    expect("/sign-in" in answer.field("location"), answer)


@scenario
def the_cookie_of_a_signed_out_session_is_rejected(place):
    browser = place.browser()
    browser.sign_in(sign_in_page(browser, "/shared"), "bob", PASSWORDS["bob"])
    taken = dict(browser.cookies)
    account = browser.ask(PREFIX + "/account")
    expect_equal(account.status, 200, account)
    action, values = form(account, "csrf")
    expect(action and action.endswith(("/sign-out", "/account/end")), f"no form to sign out: {action}")
    expect_equal(browser.submit(PREFIX + "/sign-out", values).status, 303)
    browser.cookies = taken
    expect_rejected(browser.ask("/shared", kind=FETCH), 401)


@scenario
def a_session_that_an_administrator_has_ended_is_rejected(place):
    browser = place.member("bob")
    expect_equal(browser.ask("/shared", kind=FETCH).status, 200)
    place.gatehouse.end_sessions("bob")
    # The server reads its store about once a second.
    until = time.monotonic() + 3
    while browser.ask("/shared", kind=FETCH).status == 200 and time.monotonic() < until:
        time.sleep(0.05)
    expect_rejected(browser.ask("/shared", kind=FETCH), 401)
    expect_rejected(browser.ask("/shared"), 302, 303)


@scenario
def invalid_and_repeated_session_cookies_are_rejected(place):
    browser = place.browser()
    real = place.member("ann").cookies[SESSION]
    for value in ("", "x", "A" * 43, real[:-1], real + "A", '"' + real + '"', real.swapcase(), "A" * 5000):
        expect_denied(browser.ask("/desk", fields=[("Cookie", f"{SESSION}={value}")], kind=FETCH))
    for cookies in (f"{SESSION}={real}; {SESSION}={'A' * 43}", f"{SESSION}={'A' * 43}; {SESSION}={real}",
                    f"{SESSION}={real}; {SESSION}={real}", f"{SESSION.lower()}={real}", f"gatehouse={real}"):
        expect_denied(browser.ask("/desk", fields=[("Cookie", cookies)], kind=FETCH))


@scenario
def a_request_for_an_unknown_host_is_rejected(place):
    for host in ("other.example.com", "open.example.com", "app.example.com.evil.example", "localhost", "127.0.0.1"):
        expect_denied(place.member("ann").ask("/desk", kind=FETCH, host=host))


# Forged fields and targets

@scenario
def names_and_addresses_reach_the_application_percent_encoded_or_as_utf_8(place):
    texts = {"remote-user": "zoë", "remote-name": "Zoë Müller, 100%", "remote-email": "zoë@example.org", "remote-groups": "Nachtwächter,Staff"}
    for target, is_utf8 in (("/desk", False), ("/utf8/x", True), ("/desk", False)):
        answer = place.browser().ask(target, fields=basic("zoë", ZOE), kind=FETCH)
        # The application reads each byte as one character.
        received = {name: value.encode("latin-1") for name, value in identity(answer)}
        expected = {name: (text if is_utf8 else urllib.parse.quote(text, safe="@,-" if name == "remote-groups" else "@")).encode()
                    for name, text in texts.items()}
        expect_equal(received, {**expected, "remote-realm": b"town"}, target)


@scenario
def identity_fields_of_a_client_never_reach_the_application(place):
    forged = [(name, "root") for name in (
        "Remote-User", "REMOTE-USER", "remote_user", "Remote_User", "Remote-User", "Remote-Groups", "remote_groups",
        "Remote-Realm", "remote_realm", "Remote-Email", "Remote.Name", "Remote-Groups", "Remote-User", "Remote.User", "remote~user", "Remote+Groups", "Remote!Realm",
        "Remote^User", "Remote|User", "Remote#User", "Remote*User", "Remote%User", "Remote`User", "Remote$User",
        "Remote&User", "Remote'User")]
    expect_equal(identity(place.member("ann").ask("/desk", fields=forged)), identity_fields("ann"))
    expect_equal(identity(place.browser().ask("/desk", fields=forged + basic("ann"), kind=FETCH)), identity_fields("ann"))
    for browser in (place.browser(), place.member("ann")):
        expect_equal([value for _, value in identity(browser.ask("/public", fields=forged)) if value], [])
    expect_rejected(place.browser().ask("/desk", fields=forged, kind=FETCH), 401)
    # Proxies remove the fields that Connection names. They must add the identity fields afterwards.
    for names in ("Remote-User", "remote-user, Remote-Groups", "X-Forwarded-Uri, X-Forwarded-Host", "X-Original-URL",
                  "Cookie, Remote-User"):
        answer = place.member("ann").ask("/desk", fields=[("Connection", names), *forged])
        if answer is not None and answer.status == 200:
            expect_equal(identity(answer), identity_fields("ann"), f"Connection: {names}")
        answer = place.member("bob").ask("/desk", fields=[("Connection", names)], kind=FETCH)
        expect_denied(answer)


@scenario
def forged_forwarding_fields_have_no_effect(place):
    elsewhere = [(name, value) for name, value in (
        ("X-Forwarded-Uri", "/public"), ("X-Forwarded-Path", "/public"), ("X-Original-URL", f"https://{NAME}/public"),
        ("X-Original-URI", "/public"), ("X-Rewrite-URL", "/public"), ("X-Forwarded-Host", NAME),
        ("X-Forwarded-Method", "OPTIONS"), ("X-Original-Method", "OPTIONS"), ("X-Forwarded-Proto", "http"),
        ("X-Forwarded-Prefix", "/public"), ("Forwarded", f"for=127.0.0.1;host={NAME};proto=https"),
        ("X_Forwarded_Uri", "/public"), ("X-HTTP-Method-Override", "OPTIONS"))]
    for fields in [[one] for one in elsewhere] + [elsewhere, elsewhere * 2]:
        expect_rejected(place.browser().ask("/desk", fields=fields, kind=FETCH), 401)
        expect_rejected(place.member("bob").ask("/desk", fields=fields, kind=FETCH), 403)
        expect_equal(identity(place.member("ann").ask("/desk", fields=fields, kind=FETCH)), identity_fields("ann"))


@scenario
def the_application_receives_the_address_of_the_client(place):
    answer = place.browser(source="127.0.0.9").ask("/public", fields=[("X-Forwarded-For", "10.1.2.3")])
    values = [value for name, value in received_fields(answer) if name == "x-forwarded-for"]
    expect(values and values[-1].split(",")[-1].strip() == "127.0.0.9", values)


@scenario
def a_complete_url_in_the_request_line_bypasses_no_rule(place):
    for target in (f"https://{NAME}/desk", f"http://{NAME}/desk", "https://evil.example/desk",
                   f"https://{NAME}:1/desk", f"https://{NAME}@evil.example/desk"):
        # open.example.com is open. If the proxy asked about one host and served the other, every client would be allowed.
        for host in (None, "evil.example", "open.example.com", NAME):
            expect_denied(place.browser().ask(target, kind=FETCH, host=host))
            expect_denied(place.member("bob").ask(target, kind=FETCH, host=host))


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
def no_ambiguous_path_reaches_a_protected_location(place):
    """Without ann's session, no target may arrive that a lenient application could decode to /desk."""
    for who in (None, "bob"):
        for path in ODD_PATHS:
            browser = place.member(who) if who else place.browser()
            before = len(place.application.targets)
            browser.ask(path, kind=FETCH)
            browser.close()
            for target in place.application.targets[before:]:
                expect(is_public(target), f"{path!r} reached the application as {target!r}, for {who or 'nobody'}")


def is_public(target):
    """Whether every way to decode a target, however lenient, leads below /public."""
    path = target.partition("?")[0].partition("#")[0]
    for _ in range(3):
        if any(word in path for word in ("..", ";", "\\", "//", "\0", "%00")) or not path.startswith("/public"):
            return False
        path = urllib.parse.unquote(path, "latin-1")
    return True


@scenario
def clients_cannot_request_the_paths_of_forward_authentication(place):
    for flavour in ("nginx", "caddy", "traefik", "envoy", "haproxy"):
        answer = place.member("ann").ask(f"{PREFIX}/auth/{flavour}", fields=[("X-Forwarded-Uri", "/desk")])
        expect_equal(answer.status, 404, flavour)
        # Other spellings may pass the proxy, but Gatehouse must not accept them.
        for path in (f"{PREFIX}/%61uth/{flavour}", f"{PREFIX}/auth/%{ord(flavour[0]):x}{flavour[1:]}"):
            answer = place.member("ann").ask(path, fields=[("X-Forwarded-Uri", "/desk")], kind=FETCH)
            expect(answer is None or answer.status in (400, 403, 404), f"{path}: {answer}")


# A value of the cookie that a hand-over is bound to.
VERIFIER = "dmVyaWZpZXI" + "A" * 32


@scenario
def the_application_receives_neither_cookies_of_gatehouse_nor_password(place):
    secret = place.member("ann").cookies[SESSION]
    jars = [[("Cookie", f"{SESSION}={secret}")], [("Cookie", f"a=1; {SESSION}={secret}; b=2")],
            [("Cookie", f"{SESSION}={secret}; b=2")], [("Cookie", f"a=1; {SESSION}={secret}")],
            [("Cookie", f"a=1; __Host-gatehouse-sign-in={secret}; {SESSION}={secret}; b=2")],
            [("Cookie", f"__Host-gatehouse-sign-in={secret};{SESSION}={secret}")],
            [("Cookie", f"a=1; \t{SESSION}={secret}")], [("Cookie", f"a=1;\t{SESSION}={secret};\tb=2")],
            [("Cookie", f"a=1;\t__Host-gatehouse-sign-in={secret}; \t {SESSION}={secret}; b=2")],
            [("Cookie", f"a=1; x{SESSION}={secret[:3]}; {SESSION}={secret}; b=2")],
            [("Cookie", f"{SESSION}={secret}; {SESSION}-verifier={VERIFIER}")],
            [("Cookie", f"{SESSION}-verifier={VERIFIER};\t{SESSION}={secret}; b=2")],
            [("Cookie", f"a=1;{SESSION}-verifier={VERIFIER};{SESSION}-sign-in={secret};{SESSION}={secret};b=2")],
            [("Cookie", f"a=1; {SESSION}={secret}; \t {SESSION}-verifier = {VERIFIER} ; b=2")],
            [("Cookie", f"a=1; {SESSION}={secret}; b=2"), ("Cookie", f"{SESSION}-verifier={VERIFIER}")],
            [("Cookie", f"{SESSION}-verifier={VERIFIER}"), ("Cookie", f"a=1; {SESSION}={secret}; b=2")]]
    for fields in jars:
        answer = place.browser().ask("/desk", fields=fields)
        cookies = "; ".join(value for name, value in received_fields(answer) if name == "cookie")
        expect(secret not in str(received_fields(answer)), f"{fields} arrived as {cookies}")
        expect(VERIFIER not in str(received_fields(answer)), f"{fields} arrived as {cookies}")
        for other in ("a=1", "b=2"):
            expect_equal(other in cookies, other in "; ".join(value for _, value in fields), f"{fields} arrived as {cookies}")
    # A cookie that was sent twice: the proxy may remove all cookies.
    answer = place.browser().ask("/desk", fields=[("Cookie", f"{SESSION}={secret}" + f"; {SESSION}-verifier={VERIFIER}" * 4)])
    expect(secret not in str(answer) + str(answer.body) and VERIFIER not in str(answer.body), f"it arrived as {answer.body}")
    answer = place.browser().ask("/desk", fields=basic("ann"), kind=FETCH)
    expect("authorization" not in [name for name, _ in received_fields(answer)], answer)


@scenario
def other_cookies_reach_the_application_unchanged(place):
    token = place.member("ann").cookies[SESSION]
    for others in (f"a={SESSION}=9", f"x{SESSION}=1", f"a={SESSION}=9; x{SESSION}=1; b=2", f"{SESSION}-2=x", f"a=x{SESSION}-sign-in=9; c"):
        for cookies in (f"{SESSION}={token}; {others}", f"{others}; {SESSION}={token}", f"{others}; {SESSION}={token}; z=1", others):
            for path in ("/public", "/desk") if token in cookies else ("/public",):
                answer = place.browser().ask(path, fields=[("Cookie", cookies)], kind=FETCH)
                arrived = "; ".join(value.strip("; ") for name, value in received_fields(answer) if name == "cookie")
                expect_equal(arrived, others + ("; z=1" if cookies.endswith("; z=1") else ""), cookies)


# Load, expiry and outages

@scenario
def each_of_2000_concurrent_connections_gets_its_own_identity(place):
    cookies = {name: place.member(name).cookies[SESSION] for name in PASSWORDS}
    # The tests of other proxies may run at the same time. One after the other opens 2,000 connections.
    with open(os.path.join(tempfile.gettempdir(), "gatehouse-proxies.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        seconds = concurrent_sessions.ask(place, cookies, connections=2000, rounds=3)
    print(f"        6,000 requests over 2,000 connections in {seconds:.1f} s")


@scenario
def a_session_expires_at_its_idle_limit(place):
    place.gatehouse.stop()
    place.gatehouse.start(idle="10s", absolute="60s")
    browser = place.browser()
    browser.sign_in(sign_in_page(browser, "/shared"), "bob", PASSWORDS["bob"])
    expect_equal(browser.ask("/shared", kind=FETCH).status, 200)
    time.sleep(12)
    expect_rejected(browser.ask("/shared", kind=FETCH), 401)
    expect_rejected(browser.ask("/shared"), 302, 303)


@scenario
def the_proxy_rejects_a_server_with_another_certificate(place):
    place.gatehouse.stop()
    try:
        with Impostor(place.gatehouse.port, certificate(place.gatehouse.folder.path, "localhost")) as impostor:
            for path in ("/desk", "/public"):
                expect_rejected(place.browser().ask(path, kind=FETCH), 500, 502, 503, 504)
            expect_rejected(place.browser().ask("/gatehouse/sign-in"), 500, 502, 503, 504)
            expect_equal(impostor.asked, 0, "it has received the request")
    finally:
        place.gatehouse.start()


@scenario
def all_requests_are_denied_while_gatehouse_is_stopped(place):
    signed_in = place.member("ann")
    expect_equal(signed_in.ask("/desk", kind=FETCH).status, 200)
    place.gatehouse.stop()
    for path in ("/desk", "/shared", "/public"):
        expect_rejected(signed_in.ask(path, kind=FETCH), 500, 502, 503, 504)
        expect_rejected(signed_in.ask(path), 500, 502, 503, 504)
        expect_rejected(place.browser().ask(path, fields=basic("ann"), kind=FETCH), 500, 502, 503, 504)
    place.gatehouse.start()
    expect_equal(identity(place.member("ann").ask("/desk", kind=FETCH)), identity_fields("ann"))
