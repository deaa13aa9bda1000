# SPDX-License-Identifier: Apache-2.0
"""Tests of the pages and the session API of Gatehouse, with requests of a trusted proxy."""

import json
import time

from client import FETCH, NAVIGATION, SESSION
from authorization_requests import Place
from scenarios import expect_equal, expect
from proxy_fixture import NAME, PASSWORDS, PREFIX

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def signed_in(place: Place, name="ann"):
    browser = place.browser()
    browser.host = NAME
    browser.cookies[SESSION] = place.session(name)
    return browser


def same_site(more=()):
    return [("Origin", f"https://{NAME}"), ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/json"), *more]


@scenario
def every_answer_has_the_security_fields(place):
    browser = signed_in(place)
    for path, kind in (("/sign-in", NAVIGATION), ("/account", NAVIGATION), ("/session", FETCH), ("/sessions", FETCH),
                       ("/nothing", NAVIGATION)):
        answer = browser.ask(PREFIX + path, kind=kind)
        policy = answer.field("content-security-policy") or ""
        for word in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"):
            expect(word in policy, f"{path}: {answer}")
        expect("unsafe" not in policy and "*" not in policy, policy)
        expect_equal(answer.field("x-content-type-options"), "nosniff", path)
        expect_equal(answer.field("cross-origin-opener-policy"), "same-origin", path)
        expect(answer.field("referrer-policy") in ("no-referrer", "strict-origin"), answer)
        expect("no-store" in answer.field("cache-control"), answer)
        expect("charset=utf-8" in answer.field("content-type").lower() or "json" in answer.field("content-type"), answer)
        for name in ("access-control-allow-origin", "server", "x-powered-by"):
            expect_equal(answer.field(name), None, path)


@scenario
def hsts_is_sent_only_with_a_configured_certificate(place):
    """Not with the development certificate: a browser that has received HSTS does not let users continue after its warning."""
    expect_equal(signed_in(place).ask(PREFIX + "/sign-in").field("strict-transport-security"), None)
    place.close()
    place.gatehouse.stop()
    try:
        place.gatehouse.start(has_certificate=True)
        found = signed_in(place).ask(PREFIX + "/sign-in").field("strict-transport-security") or ""
        expect("max-age=" in found and int(found.split("max-age=")[1].split(";")[0]) >= 31_536_000, f"HSTS: {found!r}")
    finally:
        place.close()
        place.gatehouse.stop()
        place.gatehouse.start()


@scenario
def requests_of_other_sites_and_with_wrong_methods_are_rejected(place):
    browser = signed_in(place)
    elsewhere = [[("Origin", "https://evil.example")], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")],
                 [("Origin", "null")], [("Origin", f"http://{NAME}")], [("Origin", f"https://{NAME}.evil.example")]]
    for fields in elsewhere:
        for method, path in (("DELETE", "/session"), ("POST", "/session/refresh"), ("POST", "/session"), ("POST", "/sign-out"),
                             ("POST", "/account/end"), ("POST", "/sign-in")):
            answer = browser.ask(PREFIX + path, method, fields, kind=FETCH)
            expect(400 <= answer.status < 500, f"{method} {path} {fields}: {answer}")
    for method, path in (("PUT", "/sign-out"), ("DELETE", "/sign-out"), ("TRACE", "/sign-in"), ("PUT", "/session"), ("GET", "/account/end"),
                         ("PATCH", "/session"), ("GET", "/session/refresh")):
        expect_equal(browser.ask(PREFIX + path, method, kind=FETCH).status, 405, f"{method} {path}")
    expect_equal(browser.ask(PREFIX + "/session", kind=FETCH).status, 200)


@scenario
def a_session_is_over_when_its_deletion_is_answered(place):
    browser = signed_in(place)
    kept = dict(browser.cookies)
    answer = browser.ask(PREFIX + "/session", "DELETE", same_site(), kind=FETCH)
    expect_equal(answer.status, 204, answer)
    expect(SESSION not in browser.cookies, "the cookie was not removed")
    browser.cookies = kept
    expect_equal(browser.ask(PREFIX + "/session", kind=FETCH).status, 401)
    expect_equal(browser.ask(PREFIX + "/session", "DELETE", same_site(), kind=FETCH).status, 404)


@scenario
def the_session_api_returns_user_and_expiry_but_not_the_token(place):
    browser = signed_in(place)
    answer = browser.ask(PREFIX + "/session", kind=FETCH)
    told = json.loads(answer.body)
    expect_equal((told["user"], told["realm"], told["groups"]), ("ann", "town", ["Staff", "Night shift"]))
    expect(told["now"] < told["warn_at"] < told["idle_expires_at"] <= told["absolute_expires_at"], told)
    cookie = browser.cookies[SESSION]
    expect(cookie.encode() not in answer.body and told["id"] not in cookie, "the answer contains the session token")
    refreshed = json.loads(browser.ask(PREFIX + "/session/refresh", "POST", same_site([("X-CSRF", told["csrf"])]), kind=FETCH).body)
    expect_equal(refreshed["absolute_expires_at"], told["absolute_expires_at"])
    expect(len(f"{SESSION}={cookie}") < 100, "the cookie is too long")


@scenario
def a_user_can_list_and_end_only_their_own_sessions(place):
    ann, other, bob = signed_in(place), signed_in(place), signed_in(place, "bob")
    listed = json.loads(other.ask(PREFIX + "/session", kind=FETCH).body)["id"]
    mine = json.loads(ann.ask(PREFIX + "/sessions", kind=FETCH).body)["sessions"]
    expect(listed in [one["id"] for one in mine], mine)
    expect_equal(bob.ask(f"{PREFIX}/sessions/{listed}", "DELETE", same_site(), kind=FETCH).status, 404)
    expect_equal(ann.ask(f"{PREFIX}/sessions/{listed}", "DELETE", same_site(), kind=FETCH).status, 204)
    expect_equal(other.ask(PREFIX + "/session", kind=FETCH).status, 401)
    expect_equal(ann.ask(PREFIX + "/session", kind=FETCH).status, 200)


@scenario
def sessions_of_a_changed_user_end_within_two_seconds(place):
    for change, back in ((("disable", "bob"), ("enable", "bob")),
                         (("groups", "bob", "--add", "Others"), ("groups", "bob", "--remove", "Others"))):
        browser = signed_in(place, "bob")
        place.gatehouse.folder.must("user", *change)
        expect_session_end(browser, change)
        place.gatehouse.folder.must("user", *back)
        time.sleep(1.5)
    browser = signed_in(place, "bob")
    place.gatehouse.folder.must("user", "set-password", "bob", "--password-stdin", typed=PASSWORDS["bob"] + "\n")
    expect_session_end(browser, "set-password")


def expect_session_end(browser, change):
    until = time.monotonic() + 2.5
    while browser.ask(PREFIX + "/session", kind=FETCH).status == 200:
        expect(time.monotonic() < until, f"the session is still valid after {change}")
        time.sleep(0.1)


def own_lines(place, session):
    """Returns the lines of the log about a session."""
    return [line for line in place.gatehouse.server.log.splitlines() if session in line]


@scenario
def the_log_has_sign_ins_and_session_ends_but_no_secrets(place):
    browser = signed_in(place)
    cookie = browser.cookies[SESSION]
    told = json.loads(browser.ask(PREFIX + "/session", kind=FETCH).body)
    browser.sign_in(f"{PREFIX}/sign-in?return=/shared", "ann", "a wrong password of ann")
    browser.ask(PREFIX + "/session", "DELETE", same_site(), kind=FETCH)
    # The server writes its log beside its answers.
    until = time.monotonic() + 5
    while not any("ended" in line for line in own_lines(place, told["id"])) and time.monotonic() < until:
        time.sleep(0.02)
    log = place.gatehouse.server.log
    for secret in (cookie, *PASSWORDS.values(), "a wrong password of ann", told["csrf"]):
        expect(secret not in log, "a secret is in the log")
    lines = own_lines(place, told["id"])
    expect(any("begun" in line or "signed in" in line for line in lines), f"the log has no line for the beginning of the session: {lines}")
    expect(any("ended" in line for line in lines), f"the log has no line for the end of the session: {lines}")
