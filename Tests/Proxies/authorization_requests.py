# SPDX-License-Identifier: Apache-2.0
"""Tests with authorization requests as each proxy sends them, for proxies that are not installed and for requests that no proxy sends."""

import urllib.parse

from client import FETCH, NAVIGATION, SESSION, Browser
from scenarios import basic, expect_equal, identity_fields, expect
from proxy_fixture import NAME, OPEN_HOST, PASSWORDS, PREFIX

SCENARIOS = []
IDENTITY = ("remote-user", "remote-groups", "remote-realm", "remote-email", "remote-name", "remote-token")
FLAVOURS = ("nginx", "caddy", "traefik", "haproxy", "envoy")


def scenario(function):
    SCENARIOS.append(function)
    return function


class Place:
    """A client at a trusted address that sends authorization requests as a proxy does."""

    def __init__(self, gatehouse):
        self.gatehouse = gatehouse
        self.opened = []

    def browser(self, source="127.0.0.1"):
        made = Browser(self.gatehouse.port, self.gatehouse.authority, "localhost", source)
        self.opened.append(made)
        return made

    def session(self, name, host=NAME):
        """The cookie of a user who has signed in at a host."""
        browser = self.browser()
        browser.host = host
        answer = browser.sign_in(f"{PREFIX}/sign-in?return=/shared", name, PASSWORDS[name])
        expect_equal((answer.status, SESSION in browser.cookies), (303, True), answer)
        return browser.cookies[SESSION]

    def ask(self, flavour, uri, method="GET", host=NAME, proto="https", more=(), kind=FETCH, cookie=None, version="1.1",
            own_method="GET", source="127.0.0.1", query="", given=None):
        """Sends an authorization request. `given` replaces the fields that describe the original request."""
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


def expect_allowed(answer, name):
    expect_equal(answer.status, 200, answer)
    for field in IDENTITY:
        expect_equal(len(answer.all(field)), 1, f"{field}: {answer}")
    expected = dict(identity_fields(name)) if name else {}
    expect_equal([(field, answer.field(field)) for field in IDENTITY], [(field, expected.get(field, "")) for field in IDENTITY])


def expect_not_allowed(answer, what=""):
    expect(answer is not None and answer.status != 200, f"{what}: {answer}")
    for field in IDENTITY:
        expect(not answer.field(field), f"{what}: {field} in a rejection: {answer}")


@scenario
def every_flavour_answers_200_with_the_identity_of_the_session(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS:
        expect_allowed(place.ask(flavour, "/desk?x=1", cookie=ann), "ann")
        expect_allowed(place.ask(flavour, "/shared", cookie=bob, kind=NAVIGATION), "bob")
        expect_allowed(place.ask(flavour, "/desk", method="POST", cookie=ann), "ann")
        expect_allowed(place.ask(flavour, "/desk", more=basic("ann")), "ann")
        expect_allowed(place.ask(flavour, "/public/x"), None)


@scenario
def http_1_0_and_head_get_the_same_decisions(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for words in ({"version": "1.0"}, {"own_method": "HEAD"}, {"version": "1.0", "own_method": "HEAD"}):
            expect_allowed(place.ask(flavour, "/desk", cookie=ann, **words), "ann")
            answer = place.ask(flavour, "/desk", **words)
            expect_equal(answer.status, 401, (flavour, words, answer))


@scenario
def a_rejection_has_a_status_that_the_proxy_can_pass_on(place):
    bob = place.session("bob")
    for flavour in FLAVOURS:
        forbidden = place.ask(flavour, "/desk", cookie=bob, kind=NAVIGATION)
        expect_equal(forbidden.status, 403, (flavour, forbidden))
        expect_not_allowed(forbidden)
        answer = place.ask(flavour, "/desk")
        expect_equal(answer.status, 401, (flavour, answer))
        expect(answer.field("www-authenticate"), (flavour, answer))
        answer = place.ask(flavour, "/desk?x=1", kind=NAVIGATION)
        expect_equal(answer.status, 401 if flavour == "nginx" else 302, (flavour, answer))
        location = urllib.parse.urlsplit(answer.field("location") or "")
        expect_equal(location.path, f"{PREFIX}/sign-in", (flavour, answer))
        expect(location.netloc in ("", NAME), (flavour, answer))
        answer = place.ask(flavour, "/desk", method="POST", kind=NAVIGATION)
        expect_equal(answer.status, 401 if flavour == "nginx" else 303, (flavour, answer))


@scenario
def the_nginx_flavour_answers_only_200_401_and_403(place):
    ann = place.session("ann")
    for uri in ("/", "/desk", "/public", "/..", "//", "/%2f", "/\\", "", "x", "/" + "a" * 9000, "/%00", "/;a", "/#"):
        for more in ((), basic("ann"), basic("ann", "wrong"), [("Authorization", "Basic %%%")], [("Authorization", "x")],
                     [("Cookie", "=")], [("Content-Type", "text/plain")]):
            for cookie in (None, ann, "x"):
                answer = place.ask("nginx", uri, more=more, cookie=cookie, kind=NAVIGATION)
                # The server rejects a header that is too long before it reads the path.
                allowed_statuses = (200, 401, 403) if len(uri) < 8000 else (200, 401, 403, 414, 431)
                expect(answer.status in allowed_statuses, f"{uri!r} {more}: {answer}")


@scenario
def an_allowing_answer_to_envoy_sets_or_removes_every_identity_field(place):
    answer = place.ask("envoy", "/public")
    removed = [word.strip().lower() for word in (answer.field("x-envoy-auth-headers-to-remove") or "").split(",")]
    for field in IDENTITY:
        expect(field in removed or answer.field(field) is not None, f"{field} of a client would reach the application: {answer}")


@scenario
def the_query_of_an_authorization_request_is_ignored(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS[:4]:
        for query in ("?y=1", "?X-Forwarded-Uri=/public", "?url=https://app.example.com/public", "?", "?%00", "?return=//x"):
            expect_allowed(place.ask(flavour, "/desk", cookie=ann, query=query), "ann")
            expect_not_allowed(place.ask(flavour, "/desk", cookie=bob, query=query))


@scenario
def only_trusted_proxies_may_send_authorization_requests(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for uri in ("/desk", "/public"):
            answer = place.ask(flavour, uri, cookie=ann, source="127.0.0.2")
            expect_equal(answer.status, 403, (flavour, answer))
            expect_not_allowed(answer)


@scenario
def an_authorization_request_with_missing_repeated_or_invalid_fields_is_denied(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in ("nginx", "caddy", "traefik", "haproxy"):
        whole = {"nginx": [("X-Original-URL", f"https://{NAME}/desk"), ("X-Original-Method", "GET")]}.get(flavour) or [
            ("X-Forwarded-Method", "GET"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", NAME),
            ("X-Forwarded-Uri", "/desk")]
        expect_allowed(place.ask(flavour, "", given=[*whole, ("X-Forwarded-For", "192.0.2.7")], cookie=ann), "ann")
        for left_out in range(len(whole)):
            given = [*whole[:left_out], *whole[left_out + 1:], ("X-Forwarded-For", "192.0.2.7")]
            expect_not_allowed(place.ask(flavour, "", given=given, cookie=ann), f"{flavour} without {whole[left_out][0]}")
        for name, value in whole:
            for twice in ([(name, value)], [(name, value + "x")], [(name, "/public")]):
                given = [*whole, *twice, ("X-Forwarded-For", "192.0.2.7")]
                expect_not_allowed(place.ask(flavour, "", given=given, cookie=ann), f"{flavour} with {name} twice")
        for name, _ in whole:
            for value in ("", " ", "/", "//", "a,b", "GET POST", "%", "https://", "https:///desk", "javascript:x", "\xff"):
                given = [(key, value if key == name else old) for key, old in whole]
                answer = place.ask(flavour, "", given=given, cookie=bob, kind=FETCH)
                expect_not_allowed(answer, f"{flavour} with {name}: {value!r}")
        expect_not_allowed(place.ask(flavour, "", given=[], cookie=ann), f"{flavour} without anything")


@scenario
def fields_of_another_flavour_are_ignored(place):
    bob = place.session("bob")
    public = [("X-Original-URL", f"https://{NAME}/public"), ("X-Original-Method", "GET"), ("X-Original-URI", "/public"),
              ("X_Original_URL", f"https://{NAME}/public"), ("X_Forwarded_Uri", "/public"),
              ("Forwarded", f"host={NAME};proto=https"), ("X-Forwarded-Prefix", "/public"), ("X-Rewrite-URL", "/public")]
    for flavour in FLAVOURS[1:]:
        expect_not_allowed(place.ask(flavour, "/desk", more=public, cookie=bob), flavour)
    forwarded = [("X-Forwarded-Uri", "/public"), ("X-Forwarded-Host", NAME), ("X-Forwarded-Method", "GET")]
    for flavour in ("nginx", "envoy"):
        expect_not_allowed(place.ask(flavour, "/desk", more=forwarded, cookie=bob), flavour)
    for flavour in FLAVOURS:
        forged = [("Remote-User", "ann"), ("Remote-Groups", "Staff"), ("X-Forwarded-User", "ann")]
        expect_not_allowed(place.ask(flavour, "/desk", more=forged, cookie=bob), flavour)
        expect_allowed(place.ask(flavour, "/public", more=forged), None)


@scenario
def case_trailing_dot_and_port_of_a_host_change_no_decision(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS:
        for host in ("APP.example.com", "app.Example.COM:443", "app.example.com.", "app.example.com:8443"):
            answer = place.ask(flavour, "/desk", host=host, cookie=bob)
            expect_equal(answer.status, 403, (flavour, host, answer))
            answer = place.ask(flavour, "/desk", host=host, cookie=ann)
            expect(answer.status == 200 or host.endswith("."), (flavour, host, answer))
        for host in ("other.example.com", "xapp.example.com", "app.example.com.evil.example", "example.com", "app.example.com@x",
                     "", "[::1]", "app.example.com:x", *(["app.example.com/public"] if flavour != "nginx" else [])):
            for cookie in (ann, None):
                expect_not_allowed(place.ask(flavour, "/public", host=host, cookie=cookie), f"{flavour}: {host}")


@scenario
def only_requests_by_https_are_allowed(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for proto in ("http", "ws", "ftp", "HTTPS2", ""):
            expect_not_allowed(place.ask(flavour, "/desk", proto=proto, cookie=ann), f"{flavour}: {proto}")


@scenario
def a_websocket_is_decided_like_any_other_request(place):
    """Traefik sends the scheme wss. Envoy and HAProxy convert the CONNECT of HTTP/2 to a GET."""
    ann, bob = place.session("ann"), place.session("bob")
    fields = [("Sec-Fetch-Mode", "websocket"), ("Sec-Fetch-Dest", "websocket")]
    for flavour in FLAVOURS:
        for proto in ("https", "wss") if flavour not in ("nginx",) else ("https",):
            expect_allowed(place.ask(flavour, "/desk/socket", proto=proto, cookie=ann, more=fields, kind={}), "ann")
            expect_equal(place.ask(flavour, "/desk/socket", proto=proto, cookie=bob, more=fields, kind={}).status, 403)
            answer = place.ask(flavour, "/desk/socket", proto=proto, more=fields, kind={})
            expect_equal(answer.status, 401, (flavour, answer))
        if flavour != "nginx":
            expect_not_allowed(place.ask(flavour, "/desk/socket", proto="ws", cookie=ann, more=fields), f"{flavour}: ws")


@scenario
def the_rules_of_the_requested_host_decide(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in FLAVOURS:
        for port in ("", ":8443"):
            expect_allowed(place.ask(flavour, "/desk", host=OPEN_HOST + port), None)
            expect_allowed(place.ask(flavour, "/desk", host=OPEN_HOST + port, cookie=bob), None)
            expect_not_allowed(place.ask(flavour, "/desk", host=NAME + port), flavour)
            expect_not_allowed(place.ask(flavour, "/desk", host=NAME + port, cookie=bob), flavour)
            expect_allowed(place.ask(flavour, "/desk", host=NAME + port, cookie=ann), "ann")
        # Other fields of the client or of a proxy have no effect.
        other = [("Forwarded", f"host={OPEN_HOST}"), ("X-Host", OPEN_HOST), ("X-Original-Host", OPEN_HOST),
                 ("X-HTTP-Host-Override", OPEN_HOST), ("X-Forwarded-Server", OPEN_HOST),
                 *([("X-Forwarded-Host", OPEN_HOST)] if flavour in ("nginx", "envoy") else [])]
        expect_not_allowed(place.ask(flavour, "/desk", cookie=bob, more=other), flavour)
        for both in (f"{NAME}, {OPEN_HOST}", f"{OPEN_HOST}, {NAME}", f"{OPEN_HOST}@{NAME}", f"{NAME} {OPEN_HOST}"):
            expect_not_allowed(place.ask(flavour, "/desk", host=both, cookie=bob), f"{flavour}: {both}")


@scenario
def an_authorization_request_may_have_12_kilobytes_of_cookies(place):
    ann = place.session("ann")
    jar = "; ".join(f"application-{number}={'x' * 3000}" for number in range(4))
    for flavour in FLAVOURS:
        for cookies in (f"{jar}; {SESSION}={ann}", f"{SESSION}={ann}; {jar}"):
            expect_allowed(place.ask(flavour, "/desk", more=[("Cookie", cookies)]), "ann")


@scenario
def a_method_that_no_rule_allows_gets_405_or_403_for_nginx_and_envoy(place):
    for flavour in FLAVOURS:
        answer = place.ask(flavour, "/reading", method="POST", more=[("X-HTTP-Method-Override", "GET")])
        expect_not_allowed(answer)
        expect_equal(answer.status, 403 if flavour in ("nginx", "envoy") else 405, (flavour, answer))


@scenario
def the_method_of_an_authorization_request_changes_no_decision(place):
    ann, bob = place.session("ann"), place.session("bob")
    for flavour in ("nginx", "caddy", "traefik", "haproxy"):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            expect_not_allowed(place.ask(flavour, "/desk", own_method=method, cookie=bob), f"{flavour}: {method}")
            answer = place.ask(flavour, "/desk", own_method=method, cookie=ann)
            expect(answer.status in (200, 403, 405), f"{flavour}: {method}: {answer}")


@scenario
def a_cors_preflight_is_allowed_only_at_the_hosts_of_the_list(place):
    preflight = [("Origin", "https://www.example.com"), ("Access-Control-Request-Method", "PUT")]
    for flavour in FLAVOURS:
        expect_allowed(place.ask(flavour, "/desk", method="OPTIONS", more=preflight), None)
        expect_not_allowed(place.ask(flavour, "/desk", method="OPTIONS", more=preflight, host="wiki.example.com"), flavour)
        for more in ([*preflight, preflight[0]], [*preflight, preflight[1]], [("Origin", ""), preflight[1]], preflight[:1], preflight[1:]):
            expect_not_allowed(place.ask(flavour, "/desk", method="OPTIONS", more=more), f"{flavour}: {more}")


ODD = ["/public%2f..%2fdesk", "/public/..%2fdesk", "/public/../desk", "/public/%2e%2e/desk", "/public;/../desk", "//desk",
       "/public//desk", "/public\\..\\desk", "/public/..%5cdesk", "/public/%00", "/public#/../desk", "/public/%c0%ae",
       "/public/\xff", "/public/%", "/public/%2", "/public/%zz", "/./public", "/public/.", "/public/..", "public", ""]


@scenario
def an_ambiguous_path_is_denied_even_below_an_open_path(place):
    ann = place.session("ann")
    for flavour in FLAVOURS:
        for uri in ODD:
            # A URL without a path has the path "/". For Envoy, a target that does not begin with "/" is not below the prefix.
            if not uri.startswith("/") and (flavour == "envoy" or flavour == "nginx" and not uri):
                continue
            expect_not_allowed(place.ask(flavour, uri, cookie=ann), f"{flavour}: {uri!r}")
