# SPDX-License-Identifier: Apache-2.0
"""Tests of two applications at two hosts, with one sign-in at a third host, behind one proxy."""

import contextlib
import json
import os
import re
import time
import urllib.parse

import identity_tokens
import proxy_fixture
from client import FETCH, SESSION, Browser, form
from proxy_fixture import NAME, PASSWORDS, PREFIX, SIGN_IN_HOST, WIKI, Application, certificate, free_port, identity, received_fields
from scenarios import basic, expect, expect_equal, expect_rejected, identity_fields

SCENARIOS = []
VERIFIER = "__Host-gatehouse-verifier"
CONFIGURATION = """
default-realm town;
login storeRealm {{ StoreLoginModule required; }}
realm town {{ class StoreRealm; }}
passwords {{ hash argon2id memory=8MiB passes=1; }}
server {{
    listen 127.0.0.1:{port};
    state state;
    access-log off;
    trusted-proxies 127.0.0.1;
    sign-in {{ host auth.example.com:{proxy_port}; prefix /gatehouse; }}
    identity-token {{ key "{key}"; }}
}}
protect app.example.com/  {{ auth form basic; require group Staff; }}
protect wiki.example.com/ {{ auth form; require any; }}
"""


def scenario(function):
    SCENARIOS.append(function)
    return function


class Gatehouse(proxy_fixture.Gatehouse):
    """A Gatehouse with a sign-in host, at the port of the proxy."""

    def __init__(self, program, proxy_port, key):
        self.proxy_port, self.key = proxy_port, key
        super().__init__(program)

    def _configuration(self, **_):
        return CONFIGURATION.format(port=self.port, proxy_port=self.proxy_port, key=self.key)


class Person:
    """A browser that follows redirects between the hosts."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.browsers, self.locations = {}, []

    def at(self, host):
        if host not in self.browsers:
            self.browsers[host] = Browser(self.proxy.port, self.proxy.certificate[0], host)
        return self.browsers[host]

    def url(self, host, path="/"):
        return f"https://{host}:{self.proxy.port}{path}"

    def open(self, url):
        """Opens a URL and returns the last response, with its URL."""
        for _ in range(8):
            parts = urllib.parse.urlsplit(url)
            expect_equal(parts.port, self.proxy.port, url)
            answer = self.at(parts.hostname).ask(parts.path + (f"?{parts.query}" if parts.query else ""))
            if answer.status not in (302, 303):
                return answer, url
            url = urllib.parse.urljoin(url, answer.field("location"))
            self.locations.append(url)
        raise AssertionError(f"too many redirects: {self.locations[-8:]}")

    def sign_in(self, url, name):
        """Opens a URL, signs in at the sign-in host, and returns the page at the end."""
        shown, page = self.open(url)
        expect_equal(urllib.parse.urlsplit(page).hostname, SIGN_IN_HOST)
        action, values = form(shown)
        answer = self.at(SIGN_IN_HOST).submit(action, values | {"username": name, "password": PASSWORDS[name]})
        expect_equal(answer.status, 303, answer)
        back = urllib.parse.urljoin(page, answer.field("location"))
        self.locations.append(back)
        return self.open(back)

    def codes(self):
        """The codes of all hand-overs."""
        queries = [urllib.parse.parse_qs(urllib.parse.urlsplit(url).query) for url in self.locations]
        return [code for query in queries for code in query.get("code", [])]

    def close(self):
        for browser in self.browsers.values():
            browser.close()


class Place:
    """A running proxy with Gatehouse and two applications, and the browsers of one scenario."""

    def __init__(self, proxy, gatehouse, application, wiki):
        self.proxy, self.gatehouse, self.application, self.wiki = proxy, gatehouse, application, wiki
        self.people = []

    def person(self):
        self.people.append(Person(self.proxy))
        return self.people[-1]

    def close(self):
        for person in self.people:
            person.close()
        self.people = []


def run(kind, program, count, folder):
    """Runs all scenarios with a proxy."""
    print(f"== {kind.title}, and two applications with a sign-in host", flush=True)
    port = free_port()
    with contextlib.ExitStack() as stack:
        application, wiki = (stack.enter_context(Application()) for _ in range(2))
        key = os.path.join(folder, f"identity-token-{port}.pem")
        identity_tokens.make_key(key)
        gatehouse = stack.enter_context(Gatehouse(program, port, key))
        names = certificate(folder, NAME, WIKI, SIGN_IN_HOST)
        proxy = stack.enter_context(kind(folder, gatehouse, application, names, names=(NAME,), port=port, wiki=wiki, has_log=True))
        for each in SCENARIOS:
            count.run(each, Place(proxy, gatehouse, application, wiki))


@scenario
def one_sign_in_is_enough_and_each_application_gets_the_requests_of_its_host(place):
    person = place.person()
    answer, url = person.sign_in(person.url(NAME, "/desk?x=1"), "ann")
    expect_equal((url, identity(answer)), (person.url(NAME, "/desk?x=1"), identity_fields("ann")))
    answer, url = person.open(person.url(WIKI, "/page?y=2"))
    expect_equal((url, identity(answer)), (person.url(WIKI, "/page?y=2"), identity_fields("ann")))
    expect_equal(len(person.codes()), 2)
    # Afterwards no host redirects any more.
    for host in (NAME, WIKI):
        person.locations = []
        person.open(person.url(host, "/desk?x=1" if host == NAME else "/page?y=2"))
        expect_equal(person.locations, [])
    tokens = {person.at(host).cookies[SESSION] for host in (NAME, WIKI, SIGN_IN_HOST)}
    expect_equal(len(tokens), 3, "two hosts have the same session")
    for application, host, target in ((place.application, NAME, "/desk?x=1"), (place.wiki, WIKI, "/page?y=2")):
        expect_equal(set(application.targets), {target})
        for request in application.requests:
            fields = {name.lower(): value for name, value in request["fields"]}
            expect_equal((fields["host"], fields["x-forwarded-host"]), (f"{host}:{place.proxy.port}",) * 2)
            expect(not any(token in str(request) for token in tokens), request)


@scenario
def the_first_page_of_each_host_costs_three_redirects(place):
    """To the sign-in host, back with a code, and to the page without the code. At the first host, the sign-in is between the first two."""
    person = place.person()

    def steps():
        paths = [(urllib.parse.urlsplit(url).hostname, urllib.parse.urlsplit(url).path) for url in person.locations]
        person.locations = []
        return paths

    def expected(host, path):
        return [(SIGN_IN_HOST, PREFIX + "/sign-in"), (host, PREFIX + "/enter"), (host, path)]

    person.sign_in(person.url(NAME, "/desk"), "ann")
    expect_equal(steps(), expected(NAME, "/desk"))
    person.open(person.url(WIKI, "/page"))
    expect_equal(steps(), expected(WIKI, "/page"))
    for host, path in ((NAME, "/desk"), (WIKI, "/other"), (WIKI, "/page")):
        person.open(person.url(host, path))
    expect_equal(steps(), [])
    # Without a session, the sign-in host itself costs none.
    other = place.person()
    other.open(other.url(SIGN_IN_HOST, PREFIX + "/sign-in"))
    expect_equal(other.locations, [])


@scenario
def each_application_gets_a_token_for_its_own_host_and_never_the_token_of_a_client(place):
    person = place.person()
    person.sign_in(person.url(NAME, "/desk"), "ann")
    person.open(person.url(WIKI, "/page"))
    issuer, tokens = person.url(SIGN_IN_HOST, ""), {}
    forged = [("Remote-Token", "e30.e30.e30"), ("remote_token", "e30.e30.e30"), ("Remote.Token", "e30.e30.e30")]
    for host in (NAME, WIKI):
        answer = person.at(host).ask(f"{PREFIX}/jwks.json")
        expect_equal((answer.status, answer.field("content-type")), (200, "application/jwk-set+json"), answer)
        keys = json.loads(answer.body)
        for fields in ([], forged, [("Connection", "Remote-Token"), *forged]):
            answer = person.at(host).ask("/desk", fields=fields)
            received = [value for name, value in received_fields(answer) if name.replace("_", "-").replace(".", "-") == "remote-token"]
            expect_equal(len(received), 1, received)
            made = identity_tokens.claims(received[0], keys, issuer, host, time.time())
            expect_equal((made["sub"], made["realm"], made["preferred_username"]), ("town/ann", "town", "ann"))
            expect_equal(made["groups"], ["Staff", "Night shift"])
            tokens[host] = received[0]
    # What an application must reject.
    header, body, signature = tokens[NAME].split(".")
    other = tokens[WIKI].split(".")
    wrong = {
        "of another application": tokens[WIKI], "with other claims": ".".join([header, other[1], signature]),
        "without a signature": f"{header}.{body}.", "with a changed signature": tokens[NAME][:-4] + "AAAA",
    }
    for name, token in wrong.items():
        try:
            identity_tokens.claims(token, keys, issuer, NAME, time.time())
        except ValueError:
            continue
        raise AssertionError(f"a token {name} is accepted")
    try:
        identity_tokens.claims(tokens[NAME], keys, issuer, NAME, time.time() + 61)
    except ValueError as error:
        expect("expired" in str(error), error)
    else:
        raise AssertionError("a token is accepted after its minute")


@scenario
def a_host_field_of_another_application_leads_to_the_rules_and_the_application_of_that_host_or_to_neither(place):
    """bob may open the wiki, and not the application."""
    person = place.person()
    person.sign_in(person.url(WIKI, "/page"), "bob")
    before = len(place.application.requests)
    for name, host in ((WIKI, NAME), (NAME, WIKI), (SIGN_IN_HOST, NAME), (SIGN_IN_HOST, WIKI)):
        browser = Browser(place.proxy.port, place.proxy.certificate[0], name)
        browser.cookies = dict(person.at(WIKI).cookies)
        for target in ("/page", f"https://{NAME}/page", f"https://{WIKI}/page"):
            answer = browser.ask(target, kind=FETCH, host=f"{host}:{place.proxy.port}")
            if answer is not None and answer.field("x-application") is not None:
                received = dict(received_fields(answer))
                expect_equal(received["host"].partition(":")[0], WIKI, f"{name} {host} {target}")
        browser.close()
    expect_equal(len(place.application.requests), before, "the other application has received a request")


@scenario
def the_cookie_of_the_check_reaches_the_browser_and_never_the_application(place):
    for method in ("GET", "POST"):
        person = place.person()
        answer = person.at(NAME).ask("/desk", method, body=b"" if method == "GET" else b"a=b")
        expect_rejected(answer, 302, 303)
        expect(answer.field("location").startswith(person.url(SIGN_IN_HOST, PREFIX + "/sign-in?")), answer)
        cookie, = answer.all("set-cookie")
        expect(cookie.startswith(VERIFIER + "="), cookie)
        for word in ("Secure", "HttpOnly", "Path=/"):
            expect(word.lower() in [part.strip().lower() for part in cookie.split(";")], cookie)
        expect_equal(answer.field("cache-control"), "no-store")
    # Another page is opened in another tab. The application is open to the first tab only after the sign-in.
    expect_equal(person.at(NAME).ask("/desk", kind=FETCH).status, 401)
    expect_equal(person.at(NAME).ask("/desk", kind=FETCH).all("set-cookie"), [])
    answer, _ = person.sign_in(person.url(NAME, "/desk"), "ann")
    person.at(NAME).cookies[VERIFIER] = "A" * 43
    answer = person.at(NAME).ask("/desk")
    expect("gatehouse" not in str(received_fields(answer)).lower(), answer)


@scenario
def no_log_of_the_proxy_contains_a_code_or_a_challenge(place):
    person = place.person()
    person.sign_in(person.url(NAME, "/desk?in-the-log"), "ann")
    person.open(person.url(WIKI, "/page"))
    # A code that is rejected, and a code with another method.
    entered = next(url for url in person.locations if "/enter?code=" in url)
    person.open(entered)
    person.at(NAME).ask(urllib.parse.urlsplit(entered)._replace(scheme="", netloc="").geturl(), "POST", body=b"x")
    codes = person.codes()
    expect(len(codes) >= 2, codes)
    log = place.proxy.all_logs()
    expect("in-the-log" in log, "the proxy has logged no requests")
    for code in codes:
        expect(code not in log, "the log contains a code")
    challenges = {challenge for url in person.locations for challenge in re.findall("challenge=([A-Za-z0-9_-]+)", url)}
    expect(challenges, "no challenge was sent")
    for challenge in challenges:
        expect(challenge not in log, "the log contains a challenge")


@scenario
def the_sign_in_host_has_only_the_pages_of_gatehouse(place):
    person = place.person()
    before = len(place.application.requests) + len(place.wiki.requests)
    browser = person.at(SIGN_IN_HOST)
    answer = browser.ask("/")
    expect_equal((answer.status, urllib.parse.urlsplit(answer.field("location")).path), (303, PREFIX + "/account"))
    for path in ("/desk", "/page", f"{PREFIX}/auth/{place.proxy.flavour}", "/sign-in"):
        expect_rejected(browser.ask(path), 404)
    expect_equal(browser.ask(PREFIX + "/sign-in").status, 200)
    for host in (NAME, WIKI):
        answer = person.at(host).ask(PREFIX + "/sign-in")
        expect_equal((answer.status, urllib.parse.urlsplit(answer.field("location")).hostname), (303, SIGN_IN_HOST))
    expect_equal(len(place.application.requests) + len(place.wiki.requests), before)


@scenario
def a_user_who_is_not_allowed_can_sign_out_on_the_page_that_says_so(place):
    person = place.person()
    shown, url = person.sign_in(person.url(NAME, "/desk"), "bob")
    expect_equal((shown.status, url), (403, person.url(NAME, "/desk")))
    expect(b"signed in as bob" in shown.body, shown)
    action, values = form(shown, "csrf")
    answer = person.at(NAME).submit(action, values)
    expect_equal((answer.status, urllib.parse.urlsplit(answer.field("location")).hostname), (303, SIGN_IN_HOST))
    answer, url = person.sign_in(person.url(NAME, "/desk"), "ann")
    expect_equal(identity(answer), identity_fields("ann"))


@scenario
def a_sign_out_at_one_host_takes_effect_at_all_hosts_within_a_second(place):
    person, other = place.person(), place.person()
    for each in (person, other):
        each.sign_in(each.url(NAME, "/desk"), "ann")
        each.open(each.url(WIKI, "/page"))
    browser = person.at(WIKI)
    fields = [("Origin", f"https://{browser.host}"), ("Sec-Fetch-Site", "same-origin")]
    expect_equal(browser.ask(f"{PREFIX}/session", "DELETE", fields, kind=FETCH).status, 204)
    ended = time.monotonic()
    for host in (NAME, WIKI):
        while person.at(host).ask("/desk", kind=FETCH).status != 401:
            expect(time.monotonic() - ended < 1, f"the session at {host} is still valid")
        expect_equal(other.at(host).ask("/desk", kind=FETCH).status, 200)
    # The sign-in host asks for the password again.
    shown, url = person.open(person.url(NAME, "/desk"))
    expect_equal(urllib.parse.urlsplit(url).hostname, SIGN_IN_HOST)
    form(shown)


@scenario
def an_application_that_is_down_does_not_look_like_an_outage_of_gatehouse(place):
    class Nothing:
        port = free_port()
    kind = type(place.proxy)
    files = place.proxy.certificate
    # The sign-in host has the port of the first proxy, so this user authenticates by HTTP Basic.
    nothing = Nothing()
    with kind(place.proxy.folder, place.gatehouse, nothing, files, names=(NAME,)) as proxy:
        browser = Browser(proxy.port, files[0], NAME)
        answer = browser.ask("/desk", fields=basic("ann"))
        expect(answer.status in (502, 503, 504), answer)
        expect(b"Sign-in is not available" not in answer.body, answer)
        browser.close()
