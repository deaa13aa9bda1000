# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Requests of the shape that each proxy sends, made by hand: for the proxies that are not at hand, and for what none would send."""

import urllib.parse

from client import FETCH, NAVIGATION, SESSION, Browser
from scenarios import basic, equal, told, true
from world import NAME, OPEN_HOST, PASSWORDS, PREFIX

SCENARIOS = []
IDENTITY = ("remote-user", "remote-groups", "remote-realm")
FLAVOURS = ("nginx", "caddy", "traefik", "haproxy", "envoy")


def scenario(function):
    SCENARIOS.append(function)
    return function


class Place:
    """A client at a trusted address, that says what a proxy would say."""

    def __init__(self, gatehouse):
        self.gatehouse = gatehouse
        self.opened = []

    def browser(self, source="127.0.0.1"):
        made = Browser(self.gatehouse.port, self.gatehouse.authority, "localhost", source)
        self.opened.append(made)
        return made

    def session(self, name):
        """A cookie of somebody who has signed in at the application's host."""
        browser = self.browser()
        browser.host = NAME
        answer = browser.sign_in(f"{PREFIX}/sign-in?return=/shared", name, PASSWORDS[name])
        equal(answer.status, 303, answer)
        return browser.cookies[SESSION]

    def ask(self, flavour, uri, method="GET", host=NAME, proto="https", more=(), kind=FETCH, cookie=None, version="1.1",
            own_method="GET", source="127.0.0.1", query="", given=None):
        """`given` replaces the fields that say what is asked about."""
        browser = self.browser(source)
        fields = [("Cookie", f"{SESSION}={cookie}")] if cookie else []
        path = f"{PREFIX}/auth/{flavour}{query}"
        if flavour == "nginx":
            shape = [("X-Original-URL", f"{proto}://{host}{uri}"), ("X-Original-Method", method),
                     ("X-Forwarded-For", "192.0.2.7")]
        elif flavour == "envoy":
            shape = [("X-Forwarded-Proto", proto), ("X-Forwarded-For", "192.0.2.7")]
            path, own_method = f"{PREFIX}/auth/envoy{uri}", method
        else:
            shape = [("X-Forwarded-Method", method), ("X-Forwarded-Proto", proto), ("X-Forwarded-Host", host),
                     ("X-Forwarded-Uri", uri), ("X-Forwarded-For", "192.0.2.7")]
        if version == "1.0":
            fields.append(("Connection", "close"))
        host_field = host if flavour in ("envoy", "caddy") else "127.0.0.1"
        return browser.ask(path, own_method, [*(shape if given is None else given), *fields, *more], kind=kind,
                           version=version, host=host_field)

    def close(self):
        for browser in self.opened:
            browser.close()
        self.opened = []


def allowed(answer, name):
    equal(answer.status, 200, answer)
    for field in IDENTITY:
        equal(len(answer.all(field)), 1, f"{field}: {answer}")
    equal([(field, answer.field(field)) for field in sorted(IDENTITY)],
          told(name) if name else [(field, "") for field in sorted(IDENTITY)])


def not_allowed(answer, what=""):
    true(answer is not None and answer.status != 200, f"{what}: {answer}")
    for field in IDENTITY:
        true(not answer.field(field), f"{what}: {field} with a refusal: {answer}")


@scenario
def every_flavour_says_200_to_a_session_and_who_it_is(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS:
        allowed(place.ask(flavour, "/desk?x=1", cookie=ann), "ann")
        allowed(place.ask(flavour, "/shared", cookie=bob, kind=NAVIGATION), "bob")
        allowed(place.ask(flavour, "/desk", method="POST", cookie=ann), "ann")
        allowed(place.ask(flavour, "/desk", more=basic("ann")), "ann")
        allowed(place.ask(flavour, "/public/x"), None)


@scenario
def http_1_0_and_head_are_answered_alike(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for words in ({"version": "1.0"}, {"own_method": "HEAD"}, {"version": "1.0", "own_method": "HEAD"}):
            allowed(place.ask(flavour, "/desk", cookie=ann, **words), "ann")
            answer = place.ask(flavour, "/desk", **words)
            equal(answer.status, 401, (flavour, words, answer))


@scenario
def a_refusal_has_the_status_that_the_proxy_can_pass_on(place):
    bob = place.session("bob")
    for flavour in FLAVOURS:
        forbidden = place.ask(flavour, "/desk", cookie=bob, kind=NAVIGATION)
        equal(forbidden.status, 403, (flavour, forbidden))
        not_allowed(forbidden)
        answer = place.ask(flavour, "/desk")
        equal(answer.status, 401, (flavour, answer))
        true(answer.field("www-authenticate"), (flavour, answer))
        answer = place.ask(flavour, "/desk?x=1", kind=NAVIGATION)
        equal(answer.status, 401 if flavour == "nginx" else 302, (flavour, answer))
        location = urllib.parse.urlsplit(answer.field("location") or "")
        equal(location.path, f"{PREFIX}/sign-in", (flavour, answer))
        true(location.netloc in ("", NAME), (flavour, answer))
        answer = place.ask(flavour, "/desk", method="POST", kind=NAVIGATION)
        equal(answer.status, 401 if flavour == "nginx" else 303, (flavour, answer))


@scenario
def the_nginx_flavour_says_nothing_but_200_401_and_403(place):
    ann = place.session("ann")
    for uri in ("/", "/desk", "/public", "/..", "//", "/%2f", "/\\", "", "x", "/" + "a" * 9000, "/%00", "/;a", "/#"):
        for more in ((), basic("ann"), basic("ann", "wrong"), [("Authorization", "Basic %%%")], [("Authorization", "x")],
                     [("Cookie", "=")], [("Content-Type", "text/plain")]):
            for cookie in (None, ann, "x"):
                answer = place.ask("nginx", uri, more=more, cookie=cookie, kind=NAVIGATION)
                # Longer than a header may be is for the server before anybody looks at what it is for.
                allowed_statuses = (200, 401, 403) if len(uri) < 8000 else (200, 401, 403, 414, 431)
                true(answer.status in allowed_statuses, f"{uri!r} {more}: {answer}")


@scenario
def a_yes_to_envoy_takes_out_what_it_does_not_set(place):
    answer = place.ask("envoy", "/public")
    removed = [word.strip().lower() for word in (answer.field("x-envoy-auth-headers-to-remove") or "").split(",")]
    for field in IDENTITY:
        true(field in removed or answer.field(field) is not None, f"{field} of a client would reach the application: {answer}")


@scenario
def the_query_of_the_question_itself_says_nothing(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS[:4]:
        for query in ("?y=1", "?X-Forwarded-Uri=/public", "?url=https://app.example.com/public", "?", "?%00", "?return=//x"):
            allowed(place.ask(flavour, "/desk", cookie=ann, query=query), "ann")
            not_allowed(place.ask(flavour, "/desk", cookie=bob, query=query))


@scenario
def only_trusted_peers_are_answered(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for uri in ("/desk", "/public"):
            answer = place.ask(flavour, uri, cookie=ann, source="127.0.0.2")
            equal(answer.status, 403, (flavour, answer))
            not_allowed(answer)


@scenario
def a_question_that_lacks_something_is_refused(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in ("nginx", "caddy", "traefik", "haproxy"):
        whole = {"nginx": [("X-Original-URL", f"https://{NAME}/desk"), ("X-Original-Method", "GET")]}.get(flavour) or [
            ("X-Forwarded-Method", "GET"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", NAME),
            ("X-Forwarded-Uri", "/desk")]
        allowed(place.ask(flavour, "", given=[*whole, ("X-Forwarded-For", "192.0.2.7")], cookie=ann), "ann")
        for left_out in range(len(whole)):
            given = [*whole[:left_out], *whole[left_out + 1:], ("X-Forwarded-For", "192.0.2.7")]
            not_allowed(place.ask(flavour, "", given=given, cookie=ann), f"{flavour} without {whole[left_out][0]}")
        for name, value in whole:
            for twice in ([(name, value)], [(name, value + "x")], [(name, "/public")]):
                given = [*whole, *twice, ("X-Forwarded-For", "192.0.2.7")]
                not_allowed(place.ask(flavour, "", given=given, cookie=ann), f"{flavour} with {name} twice")
        for name, _ in whole:
            for value in ("", " ", "/", "//", "a,b", "GET POST", "%", "https://", "https:///desk", "javascript:x", "\xff"):
                given = [(key, value if key == name else old) for key, old in whole]
                answer = place.ask(flavour, "", given=given, cookie=bob, kind=FETCH)
                not_allowed(answer, f"{flavour} with {name}: {value!r}")
        not_allowed(place.ask(flavour, "", given=[], cookie=ann), f"{flavour} without anything")


@scenario
def fields_of_another_flavour_say_nothing(place):
    bob = place.session("bob")
    public = [("X-Original-URL", f"https://{NAME}/public"), ("X-Original-Method", "GET"), ("X-Original-URI", "/public"),
              ("X_Original_URL", f"https://{NAME}/public"), ("X_Forwarded_Uri", "/public"),
              ("Forwarded", f"host={NAME};proto=https"), ("X-Forwarded-Prefix", "/public"), ("X-Rewrite-URL", "/public")]
    for flavour in FLAVOURS[1:]:
        not_allowed(place.ask(flavour, "/desk", more=public, cookie=bob), flavour)
    forwarded = [("X-Forwarded-Uri", "/public"), ("X-Forwarded-Host", NAME), ("X-Forwarded-Method", "GET")]
    for flavour in ("nginx", "envoy"):
        not_allowed(place.ask(flavour, "/desk", more=forwarded, cookie=bob), flavour)
    for flavour in FLAVOURS:
        forged = [("Remote-User", "ann"), ("Remote-Groups", "Staff"), ("X-Forwarded-User", "ann")]
        not_allowed(place.ask(flavour, "/desk", more=forged, cookie=bob), flavour)
        allowed(place.ask(flavour, "/public", more=forged), None)


@scenario
def the_case_of_a_host_its_dot_and_its_port_change_no_decision(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS:
        for host in ("APP.example.com", "app.Example.COM:443", "app.example.com.", "app.example.com:8443"):
            answer = place.ask(flavour, "/desk", host=host, cookie=bob)
            equal(answer.status, 403, (flavour, host, answer))
            answer = place.ask(flavour, "/desk", host=host, cookie=ann)
            true(answer.status == 200 or host.endswith("."), (flavour, host, answer))
        for host in ("other.example.com", "xapp.example.com", "app.example.com.evil.example", "example.com", "app.example.com@x",
                     "", "[::1]", "app.example.com:x", *(["app.example.com/public"] if flavour != "nginx" else [])):
            for cookie in (ann, None):
                not_allowed(place.ask(flavour, "/public", host=host, cookie=cookie), f"{flavour}: {host}")


@scenario
def only_https_is_let_in(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for proto in ("http", "ws", "ftp", "HTTPS2", ""):
            not_allowed(place.ask(flavour, "/desk", proto=proto, cookie=ann), f"{flavour}: {proto}")


@scenario
def a_websocket_is_asked_about_like_any_other_request(place):
    """Traefik calls the scheme wss; Envoy and HAProxy make a GET of the CONNECT that asks for one over HTTP/2."""
    ann, bob = place.session("ann"), place.session("bob")
    fields = [("Sec-Fetch-Mode", "websocket"), ("Sec-Fetch-Dest", "websocket")]
    for flavour in FLAVOURS:
        for proto in ("https", "wss") if flavour not in ("nginx",) else ("https",):
            allowed(place.ask(flavour, "/desk/socket", proto=proto, cookie=ann, more=fields, kind={}), "ann")
            equal(place.ask(flavour, "/desk/socket", proto=proto, cookie=bob, more=fields, kind={}).status, 403)
            answer = place.ask(flavour, "/desk/socket", proto=proto, more=fields, kind={})
            equal(answer.status, 401, (flavour, answer))
        if flavour != "nginx":
            not_allowed(place.ask(flavour, "/desk/socket", proto="ws", cookie=ann, more=fields), f"{flavour}: ws")


@scenario
def one_application_on_two_hosts_is_judged_by_the_host_that_is_asked_about(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS:
        for port in ("", ":8443"):
            allowed(place.ask(flavour, "/desk", host=OPEN_HOST + port), None)
            allowed(place.ask(flavour, "/desk", host=OPEN_HOST + port, cookie=bob), None)
            not_allowed(place.ask(flavour, "/desk", host=NAME + port), flavour)
            not_allowed(place.ask(flavour, "/desk", host=NAME + port, cookie=bob), flavour)
            allowed(place.ask(flavour, "/desk", host=NAME + port, cookie=ann), "ann")
        # What the proxies before it or the client say besides decides nothing.
        other = [("Forwarded", f"host={OPEN_HOST}"), ("X-Host", OPEN_HOST), ("X-Original-Host", OPEN_HOST),
                 ("X-HTTP-Host-Override", OPEN_HOST), ("X-Forwarded-Server", OPEN_HOST),
                 *([("X-Forwarded-Host", OPEN_HOST)] if flavour in ("nginx", "envoy") else [])]
        not_allowed(place.ask(flavour, "/desk", cookie=bob, more=other), flavour)
        for both in (f"{NAME}, {OPEN_HOST}", f"{OPEN_HOST}, {NAME}", f"{OPEN_HOST}@{NAME}", f"{NAME} {OPEN_HOST}"):
            not_allowed(place.ask(flavour, "/desk", host=both, cookie=bob), f"{flavour}: {both}")


@scenario
def twelve_kilobytes_of_cookies_fit_into_a_question(place):
    ann = place.session("ann")
    jar = "; ".join(f"application-{number}={'x' * 3000}" for number in range(4))
    for flavour in FLAVOURS:
        for cookies in (f"{jar}; {SESSION}={ann}", f"{SESSION}={ann}; {jar}"):
            allowed(place.ask(flavour, "/desk", more=[("Cookie", cookies)]), "ann")


@scenario
def a_method_that_no_rule_allows_is_405_where_the_proxy_passes_it_on(place):
    for flavour in FLAVOURS:
        answer = place.ask(flavour, "/reading", method="POST", more=[("X-HTTP-Method-Override", "GET")])
        not_allowed(answer)
        equal(answer.status, 403 if flavour in ("nginx", "envoy") else 405, (flavour, answer))


@scenario
def the_method_of_the_question_itself_changes_no_decision(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in ("nginx", "caddy", "traefik", "haproxy"):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            not_allowed(place.ask(flavour, "/desk", own_method=method, cookie=bob), f"{flavour}: {method}")
            answer = place.ask(flavour, "/desk", own_method=method, cookie=ann)
            true(answer.status in (200, 403, 405), f"{flavour}: {method}: {answer}")


ODD = ["/public%2f..%2fdesk", "/public/..%2fdesk", "/public/../desk", "/public/%2e%2e/desk", "/public;/../desk", "//desk",
       "/public//desk", "/public\\..\\desk", "/public/..%5cdesk", "/public/%00", "/public#/../desk", "/public/%c0%ae",
       "/public/\xff", "/public/%", "/public/%2", "/public/%zz", "/./public", "/public/.", "/public/..", "public", ""]


@scenario
def a_path_that_can_be_read_in_two_ways_is_refused_even_where_it_is_open(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for uri in ODD:
            # Of a whole address, no path at all is "/"; after Envoy's prefix, nothing is not a path of its own.
            if not uri.startswith("/") and (flavour == "envoy" or flavour == "nginx" and not uri):
                continue
            not_allowed(place.ask(flavour, uri, cookie=ann), f"{flavour}: {uri!r}")
